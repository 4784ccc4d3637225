import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { refill, untilNextToken } from './budget.ts';

const budget = { perSecond: 50, burst: 50 };

test('a minute of admissions uses between 0.9 and 1.0 of the budget, however they are spread', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 400, maxLength: 1_000 }), (steps) => {
      let bucket = { tokens: budget.burst, refilledAtMs: 0 };
      let now = 0;
      let admitted = 0;
      for (const step of steps) {
        if (now + step > 60_000) break;
        now += step;
        bucket = refill(bucket, budget, now);
        const taken = Math.floor(bucket.tokens);
        admitted += taken;
        bucket = { ...bucket, tokens: bucket.tokens - taken };
      }
      expect(admitted).toBeLessThanOrEqual((budget.perSecond * now) / 1_000 + budget.burst);
      expect(admitted).toBeGreaterThanOrEqual(0.9 * ((budget.perSecond * now) / 1_000) - 1);
    }),
  );
});

test('a clock that goes back refills nothing and does not go back itself', () => {
  expect(refill({ tokens: 1, refilledAtMs: 1_000 }, budget, 500)).toEqual({ tokens: 1, refilledAtMs: 1_000 });
});

test('the next token is there when it is said to be, and not before', () => {
  fc.assert(
    fc.property(fc.double({ min: -10, max: 50, noNaN: true }), (tokens) => {
      const wait = untilNextToken({ tokens, refilledAtMs: 0 }, budget);
      expect(refill({ tokens, refilledAtMs: 0 }, budget, wait + 0.01).tokens).toBeGreaterThanOrEqual(1);
      if (wait > 0) expect(refill({ tokens, refilledAtMs: 0 }, budget, wait - 0.01).tokens).toBeLessThan(1);
    }),
  );
});
