import { describe, expect, test } from '@jest/globals';
import { faultKinds } from '@secrets/domain';
import fc from 'fast-check';
import {
  afterReport,
  effectiveWindow,
  initialLane,
  isPaused,
  type LaneReport,
  type LaneState,
  scopeOf,
} from './lane.ts';

const limits = { first: 2, max: 32 };
const at = (nowMs: number) => ({ nowMs, max: limits.max, random: 0 });
const succeeded = (count = 1): LaneReport => ({ kind: 'succeeded', count });
const failed = (
  fault: Extract<LaneReport, { kind: 'failed' }>['fault'],
  retryAfterSeconds?: number,
): LaneReport => ({
  kind: 'failed',
  fault,
  retryAfterSeconds,
});
const healthy = (window: number): LaneState => ({ ...initialLane(limits), window });

describe('a window', () => {
  test('grows by one with each success up to its threshold, then by one with each window of successes', () => {
    const lane = { ...healthy(2), threshold: 8 };
    expect(afterReport(lane, succeeded(6), at(0)).window).toBe(8);
    expect(afterReport(lane, succeeded(6 + 8), at(0)).window).toBeCloseTo(8.96, 1);
  });

  test('never grows beyond its maximum', () => {
    expect(afterReport(healthy(30), succeeded(1_000), at(0)).window).toBe(limits.max);
  });

  test('is halved without a pause while one destination alone is throttled', () => {
    const slowed = afterReport(healthy(16), { kind: 'slowed' }, at(0));
    expect(effectiveWindow(slowed, 0)).toBe(8);
    expect(afterReport(slowed, succeeded(8), at(0)).window).toBeCloseTo(9, 0);
  });

  test('is halved with each throttled call; only a window of one is paused', () => {
    let lane = healthy(16);
    for (const window of [8, 4, 2, 1]) {
      lane = afterReport(lane, failed('throttled'), at(0));
      expect(effectiveWindow(lane, 0)).toBe(window);
    }
    lane = afterReport(lane, failed('throttled'), at(0));
    expect(effectiveWindow(lane, 0)).toBe(0);
  });

  test('holds its own where every third call is throttled', () => {
    let lane = healthy(16);
    for (let call = 1; call <= 300; call += 1) {
      lane = afterReport(lane, call % 3 === 0 ? failed('throttled') : succeeded(), at(call));
      expect(isPaused(lane, call)).toBe(false);
    }
    expect(lane).toMatchObject({ failures: 0, reason: 'throttled' });
    expect(afterReport(lane, succeeded(), at(301)).reason).toBeNull();
  });

  test('is halved by a pause, and is one for the probe after it', () => {
    const throttled = afterReport(healthy(16), failed('throttled', 1), at(0));
    expect(effectiveWindow(throttled, 1)).toBe(0);
    const afterPause = throttled.pausedUntilMs! + 1;
    expect(effectiveWindow(throttled, afterPause)).toBe(1);
    const reopened = afterReport(throttled, succeeded(), at(afterPause));
    expect(effectiveWindow(reopened, afterPause)).toBe(8);
    expect(reopened).toMatchObject({ failures: 0, reason: null });
  });
});

describe('a pause', () => {
  const pauseOf = (lane: LaneState, nowMs: number) => (lane.pausedUntilMs! - nowMs) / 1_000;

  test('doubles with each failed probe', () => {
    let lane = healthy(8);
    let now = 0;
    const seconds: number[] = [];
    for (let probe = 0; probe < 4; probe += 1) {
      lane = afterReport(lane, failed('unavailable'), at(now));
      seconds.push(pauseOf(lane, now));
      now = lane.pausedUntilMs! + 1;
    }
    expect(seconds).toEqual([0.5, 1, 2, 4]);
  });

  test('is as long as the provider asks for, and an hour at most', () => {
    expect(pauseOf(afterReport(healthy(8), failed('throttled', 20), at(0)), 0)).toBe(20);
    expect(pauseOf(afterReport(healthy(8), failed('throttled', 86_400), at(0)), 0)).toBe(3_600);
  });

  test('is not changed by calls that began before it, whether they succeed or fail', () => {
    const lane = afterReport(healthy(8), failed('unavailable'), at(0));
    expect(afterReport(lane, succeeded(5), at(1))).toEqual(lane);
    expect(afterReport(lane, failed('unavailable'), at(1))).toEqual(lane);
  });

  test('after refused credentials is long from the start: one probe instead of one call per entry', () => {
    expect(pauseOf(afterReport(healthy(8), failed('unauthenticated'), at(0)), 0)).toBe(30);
  });

  test('after eight forbidden calls in a row is like that of refused credentials; a success in between starts anew', () => {
    const forbidden = (lane: LaneState, count: number) =>
      Array.from({ length: count }).reduce<LaneState>(
        (state) => afterReport(state, failed('forbidden'), at(0)),
        lane,
      );
    const almost = forbidden(healthy(8), 7);
    const repeated = { ...failed('forbidden'), isRepeated: true };
    expect(afterReport(almost, repeated, at(0))).toEqual(almost); // one entry that is tried again and again
    expect(isPaused(almost, 0)).toBe(false);
    expect(pauseOf(forbidden(almost, 1), 0)).toBe(30);
    expect(isPaused(forbidden(afterReport(almost, succeeded(), at(0)), 7), 0)).toBe(false);
  });

  test.each(['rejected', 'too_large', 'conflict', 'not_ready'] as const)(
    'is not caused by a fault of one entry: %s',
    (fault) => {
      expect(afterReport(healthy(8), failed(fault), at(0))).toEqual(healthy(8));
    },
  );
});

test.each([
  ['throttled', 'lane'],
  ['unavailable', 'destination'],
  ['unauthenticated', 'destination'],
  ['conflict', 'entry'],
] as const)('%s concerns the %s', (fault, scope) => {
  expect(scopeOf(fault)).toBe(scope);
});

test('whatever is reported, a lane has a positive window and no pause over an hour', () => {
  const report = fc.oneof(
    fc.nat({ max: 50 }).map(succeeded),
    fc
      .tuple(fc.constantFrom(...faultKinds), fc.option(fc.nat({ max: 100_000 }), { nil: undefined }))
      .map(([fault, retryAfter]) => failed(fault, retryAfter)),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(report, fc.nat({ max: 4_000_000 }))), (reports) => {
      let lane = initialLane(limits);
      let now = 0;
      for (const [one, elapsed] of reports) {
        lane = afterReport(lane, one, { nowMs: now, max: limits.max, random: 0.5 });
        expect(lane.window).toBeGreaterThanOrEqual(1);
        expect(lane.window).toBeLessThanOrEqual(limits.max);
        if (isPaused(lane, now)) expect(lane.pausedUntilMs! - now).toBeLessThanOrEqual(3_600_000);
        expect(effectiveWindow(lane, now + 3_600_001)).toBeGreaterThanOrEqual(1);
        now += elapsed;
      }
    }),
  );
});
