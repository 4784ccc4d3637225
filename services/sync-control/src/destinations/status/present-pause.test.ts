import { expect, test } from '@jest/globals';
import { initialLane, type LaneState } from '@secrets/scheduler';
import { presentDestinationFlow, presentLaneFlow } from './present-pause.ts';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const healthy: LaneState = { ...initialLane({ first: 2, max: 64 }), window: 8.5 };
const paused = (reason: LaneState['reason'], seconds: number): LaneState => ({
  ...healthy,
  failures: 1,
  reason,
  pausedUntilMs: nowMs + seconds * 1_000,
});
const flow = (lane: LaneState, destination: LaneState, isSlow = false) =>
  presentDestinationFlow({ lane, destination, isSlow }, nowMs);

test('a healthy destination is open, with the smaller window of the two', () => {
  expect(flow(healthy, { ...healthy, window: 5 })).toEqual({
    state: 'open',
    reason: null,
    paused_until: null,
    throttled_until: null,
    window: 5,
  });
  expect(flow(healthy, healthy, true).state).toBe('slow');
});

test('a destination is paused with its account, and the later pause is shown', () => {
  expect(flow(paused('throttled', 60), paused('unavailable', 30))).toEqual({
    state: 'paused',
    reason: 'the provider throttles this account',
    paused_until: '2026-01-01T00:01:00.000Z',
    throttled_until: '2026-01-01T00:01:00.000Z',
    window: 0,
  });
  expect(flow(paused('throttled', 10), paused('unavailable', 30))).toMatchObject({
    reason: 'the provider is down or does not answer',
    paused_until: '2026-01-01T00:00:30.000Z',
    throttled_until: '2026-01-01T00:00:10.000Z',
  });
});

test('after a pause, a single attempt is admitted, and the reason remains until one succeeds', () => {
  expect(flow(healthy, paused('unauthenticated', -1))).toEqual({
    state: 'probing',
    reason: 'the provider refuses the credentials',
    paused_until: null,
    throttled_until: null,
    window: 1,
  });
});

test('a lane has a flow of its own', () => {
  expect(presentLaneFlow(healthy, nowMs)).toMatchObject({ state: 'open', window: 8 });
  expect(presentLaneFlow(paused('throttled', 5), nowMs)).toMatchObject({ state: 'paused', window: 0 });
});
