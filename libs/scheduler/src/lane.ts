import type { FaultKind } from '@secrets/domain';

/**
 * The health of a lane, or of one of its destinations. Both have a window: an account is throttled as a whole, but a single
 * destination may be unreachable or have invalid credentials.
 */
export interface LaneState {
  /** How many of its entries may be outstanding while it is healthy. */
  window: number;
  /** The window grows by one per success up to this size, and beyond it by one per window of successes. */
  threshold: number;
  /** Pauses in a row; 0 while it is healthy. */
  failures: number;
  /** Entries in a row whose calls were forbidden. */
  refusals: number;
  /** End of its last pause, in milliseconds since 1970; null if it was never paused. Kept after the pause has ended. */
  pausedUntilMs: number | null;
  /** Why it was last paused or slowed down; null once a call has succeeded. */
  reason: FaultKind | null;
}

/** The initial and the largest window of a lane. */
export interface WindowLimits {
  first: number;
  max: number;
}

type FailedReport = Extract<LaneReport, { kind: 'failed' }>;

export const initialLane = ({ first, max }: WindowLimits): LaneState => ({
  window: first,
  threshold: max,
  failures: 0,
  refusals: 0,
  pausedUntilMs: null,
  reason: null,
});

/**
 * Report about a lane or a destination: successes since the last report, one fault, or, for a lane only, that one of its
 * destinations was throttled while no other is. `isRepeated`: the same entry was forbidden before.
 */
export type LaneReport =
  | { kind: 'succeeded'; count: number }
  | { kind: 'slowed' }
  | { kind: 'failed'; fault: FaultKind; retryAfterSeconds: number | undefined; isRepeated?: boolean };

/** Scope of a fault, and its first and longest pause in seconds. Any other fault affects only its entry. */
const pauses: Partial<Record<FaultKind, { of: 'lane' | 'destination'; first: number; max: number }>> = {
  throttled: { of: 'lane', first: 0.1, max: 300 },
  unavailable: { of: 'destination', first: 0.5, max: 300 },
  unauthenticated: { of: 'destination', first: 30, max: 3_600 },
};

/**
 * After this many forbidden entries in a row, the credentials are treated as invalid. Fewer may be a policy that permits only
 * some names.
 */
const maxRefusals = 8;

/** No pause is longer, whatever the provider asks for. */
const maxPauseSeconds = 3_600;

/** Returns the scope of a fault: a destination and perhaps its lane, a destination, or one entry. */
export const scopeOf = (fault: FaultKind): 'lane' | 'destination' | 'entry' => pauses[fault]?.of ?? 'entry';

export const isPaused = ({ pausedUntilMs }: LaneState, nowMs: number): boolean =>
  pausedUntilMs !== null && pausedUntilMs > nowMs;

/**
 * Returns the maximum number of outstanding entries: 0 during a pause; 1 after it, for the probe that decides whether the lane
 * reopens.
 */
export function effectiveWindow(lane: LaneState, nowMs: number): number {
  if (isPaused(lane, nowMs)) return 0;
  return lane.failures > 0 ? 1 : Math.max(1, Math.floor(lane.window));
}

/**
 * Returns the state after a report. During a pause, successes and faults of calls that began earlier change nothing: a late
 * success does not shorten a pause, and calls that fail together count once. `random` is in [0, 1).
 */
export function afterReport(
  lane: LaneState,
  report: LaneReport,
  { nowMs, max, random }: { nowMs: number; max: number; random: number },
): LaneState {
  if (isPaused(lane, nowMs)) return lane;
  if (report.kind === 'slowed') return slowed(lane);
  if (report.kind === 'succeeded') return grown(reopened(lane), report.count, max);
  const refusals = report.fault === 'forbidden' && !report.isRepeated ? lane.refusals + 1 : lane.refusals;
  if (isSlowedFirst(lane, report)) return { ...slowed(lane), reason: report.fault };
  const pause = refusals >= maxRefusals ? pauses.unauthenticated : pauses[report.fault];
  const counted = refusals === lane.refusals ? lane : { ...lane, refusals };
  return pause === undefined ? counted : paused(counted, report, { pause, nowMs, random });
}

/**
 * A throttled call first makes fewer calls overlap. Only if there is already one at a time, or if the provider asks for it, it
 * pauses.
 */
const isSlowedFirst = (lane: LaneState, { fault, retryAfterSeconds }: FailedReport): boolean =>
  fault === 'throttled' && retryAfterSeconds === undefined && lane.failures === 0 && lane.window >= 2;

const slowed = (lane: LaneState): LaneState => ({
  ...lane,
  window: halved(lane),
  threshold: halved(lane),
});

const reopened = (lane: LaneState): LaneState =>
  lane.failures === 0 && lane.refusals === 0 && lane.reason === null
    ? lane
    : {
        ...lane,
        window: lane.failures === 0 ? lane.window : lane.threshold,
        failures: 0,
        refusals: 0,
        pausedUntilMs: null,
        reason: null,
      };

function grown(lane: LaneState, successes: number, max: number): LaneState {
  let { window } = lane;
  for (let left = successes; left > 0 && window < max; left -= 1) {
    window += window < lane.threshold ? 1 : 1 / window;
  }
  return { ...lane, window: Math.min(max, window) };
}

const halved = ({ window }: LaneState): number => Math.max(1, Math.floor(window / 2));

function paused(
  lane: LaneState,
  { fault, retryAfterSeconds = 0 }: FailedReport,
  { pause, nowMs, random }: { pause: { first: number; max: number }; nowMs: number; random: number },
): LaneState {
  const backoff = Math.min(pause.max, pause.first * 2 ** Math.min(lane.failures, 30));
  const seconds = Math.min(maxPauseSeconds, Math.max(retryAfterSeconds, backoff * (1 + random / 4)));
  return {
    ...lane,
    threshold: lane.failures > 0 ? lane.threshold : halved(lane),
    failures: lane.failures + 1,
    pausedUntilMs: nowMs + seconds * 1_000,
    reason: fault,
  };
}
