import type { FaultKind } from '@secrets/domain';
import { effectiveWindow, isPaused, type LaneState } from '@secrets/scheduler';

/**
 * Whether entries are sent to a destination or an account: `open`; `slow`, its calls hang; `probing`, a single attempt
 * decides whether it reopens after a pause; `paused`.
 */
type FlowState = 'open' | 'slow' | 'probing' | 'paused';

/** The pause of a destination or a lane, as responses show it. */
export interface Flow {
  state: FlowState;
  /** Why it is or was last paused; null while it is healthy. */
  reason: string | null;
  paused_until: string | null;
  throttled_until: string | null;
  /** How many of its entries may be enqueued or in progress now. */
  window: number;
}

/** Word for the scope of a pause in a reason. */
type Scope = 'account' | 'destination';

const reasons: Partial<Record<FaultKind, (of: Scope) => string>> = {
  throttled: (of) => `the provider throttles this ${of}`,
  unavailable: () => 'the provider is down or does not answer',
  unauthenticated: () => 'the provider refuses the credentials',
  forbidden: () => 'the provider forbids every call: the credentials lack permissions',
};

export const presentLaneFlow = (lane: LaneState, nowMs: number): Flow =>
  presentFlow([{ of: 'account', state: lane }], nowMs, false);

/** Presents a destination: it is paused itself, or with its lane. */
export const presentDestinationFlow = (
  { lane, destination, isSlow }: { lane: LaneState; destination: LaneState; isSlow: boolean },
  nowMs: number,
): Flow =>
  presentFlow(
    [
      { of: 'account', state: lane },
      { of: 'destination', state: destination },
    ],
    nowMs,
    isSlow,
  );

interface Part {
  of: Scope;
  state: LaneState;
}

function presentFlow(parts: readonly Part[], nowMs: number, isSlow: boolean): Flow {
  const paused = parts.filter(({ state }) => isPaused(state, nowMs));
  const throttled = paused.filter(({ state }) => state.reason === 'throttled');
  const decisive = latest(paused) ?? latest(parts.filter(({ state }) => state.failures > 0));
  return {
    state: stateOf(paused.length > 0, decisive !== undefined, isSlow),
    reason: decisive === undefined ? null : reasonOf(decisive),
    paused_until: timestampOf(latest(paused)),
    throttled_until: timestampOf(latest(throttled)),
    window: Math.min(...parts.map(({ state }) => effectiveWindow(state, nowMs))),
  };
}

function stateOf(isPausedNow: boolean, isProbing: boolean, isSlow: boolean): FlowState {
  if (isPausedNow) return 'paused';
  if (isProbing) return 'probing';
  return isSlow ? 'slow' : 'open';
}

/** The one whose pause ends last. */
const latest = (parts: readonly Part[]): Part | undefined =>
  [...parts].sort((a, b) => (b.state.pausedUntilMs ?? 0) - (a.state.pausedUntilMs ?? 0))[0];

const reasonOf = ({ of, state: { reason } }: Part): string => pauseReason(of, reason);

/** Why a destination or an account is paused, after its calls have failed with a fault. */
export const pauseReason = (of: Scope, fault: FaultKind | null): string =>
  (fault === null ? undefined : reasons[fault]?.(of)) ?? 'its last calls failed';

const timestampOf = (part: Part | undefined): string | null =>
  part === undefined ? null : new Date(part.state.pausedUntilMs ?? 0).toISOString();
