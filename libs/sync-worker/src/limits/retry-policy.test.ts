import { describe, expect, test } from '@jest/globals';
import { faultKinds } from '@secrets/domain';
import fc from 'fast-check';
import { destinationPause, nextAttempt } from './retry-policy.ts';

describe('nextAttempt', () => {
  test.each(['unauthenticated', 'forbidden', 'rejected', 'too_large', 'conflict'] as const)(
    '%s waits for the operator',
    (kind) => {
      expect(nextAttempt({ kind, retryAfterSeconds: 5 }, 3, 0)).toBeNull();
    },
  );

  test('outages are waited for with growing pauses, for hours', () => {
    const pauses = [0, 1, 2, 3, 20, 1000].map((attempts) =>
      nextAttempt({ kind: 'unavailable' }, attempts, 0),
    );
    expect(pauses).toEqual([1, 2, 4, 8, 600, 600]);
  });

  test('never earlier than the destination asked, whatever the attempt', () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.nat(5000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempts, asked, random) => {
          expect(
            nextAttempt({ kind: 'throttled', retryAfterSeconds: asked }, attempts, random),
          ).toBeGreaterThanOrEqual(asked);
        },
      ),
    );
  });

  test('every fault has its rule', () => {
    for (const kind of [...faultKinds, 'crashed'] as const)
      expect(nextAttempt({ kind }, 0, 0)).not.toBeUndefined();
  });
});

test('a destination pauses longer with each failure in a row, a minute at most unless it asked for more', () => {
  expect([1, 2, 5, 50].map((failures) => destinationPause(failures, undefined))).toEqual([0.5, 1, 8, 60]);
  expect(destinationPause(1, 120)).toBe(120);
});
