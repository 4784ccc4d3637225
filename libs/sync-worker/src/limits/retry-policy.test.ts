import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { nextAttempt } from './retry-policy.ts';

describe('nextAttempt', () => {
  test.each(['unauthenticated', 'forbidden', 'rejected', 'too_large', 'conflict'] as const)(
    'does not retry an entry that failed as %s',
    (kind) => {
      expect(nextAttempt({ kind, retryAfterSeconds: 5 }, 3, 0)).toBeNull();
    },
  );

  test.each([
    ['throttled', [1, 2, 4, 8, 300, 300]],
    ['unavailable', [1, 2, 4, 8, 600, 600]],
    ['not_ready', [1, 2, 4, 8, 60, 60]],
    ['crashed', [5, 10, 20, 40, 600, 600]],
  ] as const)('doubles the delay of %s up to a maximum', (kind, delays) => {
    expect([0, 1, 2, 3, 20, 1000].map((attempts) => nextAttempt({ kind }, attempts, 0))).toEqual(delays);
  });

  test('extends the delay by up to a half', () => {
    expect(nextAttempt({ kind: 'unavailable' }, 2, 0.5)).toBe(5);
  });

  test('never retries earlier than the destination asked', () => {
    fc.assert(
      fc.property(
        fc.nat(100),
        fc.nat(5000),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (attempts, retryAfterSeconds, random) => {
          const delay = nextAttempt({ kind: 'throttled', retryAfterSeconds }, attempts, random);
          expect(delay).toBeGreaterThanOrEqual(retryAfterSeconds);
        },
      ),
    );
  });
});
