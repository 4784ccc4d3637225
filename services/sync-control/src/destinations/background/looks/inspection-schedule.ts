import { findDescription } from '@secrets/destinations';
import type { Inspection } from '@secrets/sync-entries';

/** Outcome of a visit: the inspection never continues by itself, later, or now with a page. */
export type Visit =
  | { kind: 'never' }
  | { kind: 'later'; ms: number }
  | { kind: 'page'; sinceSeconds: number; isRequested: boolean };

/** While looks are blocked, their inspection is visited again after this time. */
const blockedMs = { byPeriod: 60_000, requested: 5_000 };

/** An entry is left out of a round if it was verified within this share of the period before its turn. */
const freshShare = 0.1;

/**
 * Decides about an inspection that is due. A round begins a period after the one before, and its pages are spread over the period
 * in proportion to the entries that the last round has seen. What is late is made up for without a pause. A round that was
 * requested begins at once, also with the policy `off`, and does not pause.
 */
export function visitOf(type: string, inspection: Inspection): Visit {
  const { drift_policy: policy, inspection_period: seconds } = {
    ...findDescription(type).defaults,
    ...inspection.settings,
  };
  const { nowMs, requestedAtMs } = inspection;
  const isRequested = requestedAtMs !== null;
  if ((policy === 'off' && !isRequested) || inspection.isDeleted) return { kind: 'never' };
  if (inspection.isBlocked) return { kind: 'later', ms: blockedMs[isRequested ? 'requested' : 'byPeriod'] };
  if (isRequested) return { kind: 'page', sinceSeconds: (nowMs - requestedAtMs) / 1_000, isRequested };
  const periodMs = Number(seconds) * 1_000;
  const ms = nextPageAtMs(inspection, periodMs) - nowMs;
  if (ms > 0) return { kind: 'later', ms };
  const sinceTurnMs = inspection.isInRound ? -ms : 0; // a page that continues does not begin again
  return { kind: 'page', sinceSeconds: (sinceTurnMs + periodMs * freshShare) / 1_000, isRequested };
}

function nextPageAtMs({ roundStartedAtMs, isInRound, seen, lastSeen }: Inspection, periodMs: number): number {
  if (!isInRound) return roundStartedAtMs + periodMs;
  return seen < lastSeen ? roundStartedAtMs + (periodMs * seen) / lastSeen : roundStartedAtMs;
}
