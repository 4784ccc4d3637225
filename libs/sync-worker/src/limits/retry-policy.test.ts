import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextAttempt } from './retry-policy.ts';

describe('nextAttempt', () => {
  test.each(['rejected', 'too_large'] as const)('does not retry an entry that failed as %s', (kind) => {
    expect(nextAttempt({ kind, retryAfterSeconds: 5 }, 3, 0)).toBeNull();
  });

  test.each([
    ['unauthenticated', [60, 120, 240, 480, 3600, 3600]],
    ['forbidden', [60, 120, 240, 480, 3600, 3600]],
    ['full', [60, 120, 240, 480, 3600, 3600]],
    ['throttled', [1, 2, 4, 8, 300, 300]],
    ['unavailable', [1, 2, 4, 8, 600, 600]],
    ['not_ready', [1, 2, 4, 8, 60, 60]],
    ['conflict', [5, 10, 20, 40, 3600, 3600]],
    ['crashed', [5, 10, 20, 40, 600, 600]],
  ] as const)('doubles the delay of %s up to a maximum', (kind, delays) => {
    expect([0, 1, 2, 3, 20, 1000].map((attempts) => nextAttempt({ kind }, attempts, 0))).toEqual(delays);
  });

  test('retries a rejected request slowly if it may succeed later', () => {
    expect(
      [0, 1, 20].map((attempts) => nextAttempt({ kind: 'rejected', mayPass: true }, attempts, 0)),
    ).toEqual([60, 120, 3600]);
  });

  test('extends the delay by up to a half', () => {
    expect(nextAttempt({ kind: 'unavailable' }, 2, 0.5)).toBe(5);
  });

  test('waits no longer than 90 minutes, whatever the destination asked', () => {
    const longest = Math.max(
      ...[0, 1000].map(
        (attempts) => nextAttempt({ kind: 'forbidden', retryAfterSeconds: 86_400 }, attempts, 1) ?? 0,
      ),
    );
    expect(longest).toBe(5_400);
  });

  test('never retries earlier than the destination asked', () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.nat(3600),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempts, retryAfterSeconds, random) => {
          const delay = nextAttempt({ kind: 'throttled', retryAfterSeconds }, attempts, random);
          expect(delay).toBeGreaterThanOrEqual(retryAfterSeconds);
        },
      ),
    );
  });
});
