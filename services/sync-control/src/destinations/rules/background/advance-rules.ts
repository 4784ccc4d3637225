import { randomUUID } from 'node:crypto';
import { SealError } from '@secrets/seal';
import { type Logger, logFailure } from '@secrets/telemetry';
import { secretsAtOnce } from '../../../associations/batches/associate-many.ts';
import type { Context } from '../../../context.ts';
import { beforeFirst } from '../../../queries/associations/association-pages.ts';
import { confirmHolds, listHolds } from '../../../queries/rules/rule-holds.ts';
import {
  claimRule,
  type RuleLease,
  type RuleProgress,
  recordRuleProgress,
} from '../../../queries/rules/rule-runs.ts';
import { deleteRule } from '../../../queries/rules/rules.ts';
import { failureText } from '../../background/failure-text.ts';
import { type AssociateMatches, type Match, matchAssociator, OwnerGone } from './associate-matches.ts';
import { matchOvertaken } from './match-changed.ts';
import { type MatchWork, recordOutcomes } from './record-outcomes.ts';
import { releaseHolds } from './release-holds.ts';

export interface RuleWork extends MatchWork {
  log: Logger;
}

/** Holds that are looked at for one page. */
const holdsAtOnce = 200;

/** Milliseconds after which a page ends early, well before the lease does. */
const maxPageMs = 20_000;

const daySeconds = 86_400;
const maxPauseSeconds = 900;

/**
 * Continues the rules that are due, one page of each in turn. The position is recorded with the end of a page; if a process dies,
 * another one repeats the page after a minute, which changes nothing (docs/adr/0052-rules.md).
 */
export async function advanceRules(work: RuleWork, isStopping: () => boolean): Promise<void> {
  while (!isStopping()) {
    const lease = await claimRule(work.context.db);
    if (lease === undefined) return;
    const progress = await advance(work, lease).catch((error: unknown) => afterFailure(work, lease, error));
    if (progress !== undefined) await recordRuleProgress(work.context.db, lease, progress);
  }
}

const continued = (lease: RuleLease, more: Partial<RuleProgress>): RuleProgress => ({
  phase: lease.phase,
  position: lease.position,
  matchedSoFar: lease.matchedSoFar,
  error: lease.error,
  attempts: 0,
  retryInSeconds: 0,
  ...more,
});

async function advance(work: RuleWork, lease: RuleLease): Promise<RuleProgress | undefined> {
  const { context } = work;
  if (lease.phase === 'ending') return endSome(context, lease);
  if (lease.phase === 'releasing') return releaseSome(work, lease);
  if (!lease.isSeen) return continued(lease, { retryInSeconds: 1 });
  if (lease.isClosed) return continued(lease, { retryInSeconds: maxPauseSeconds });
  const endPage = work.counts?.pages.startTimer();
  return matchSome(work, lease).finally(endPage);
}

async function matchSome(work: RuleWork, lease: RuleLease): Promise<RuleProgress> {
  const { secrets, db } = work.context;
  const requestId = randomUUID();
  const page = await secrets.matching(requestId, lease.mountId, lease, { after: lease.position });
  if (page.mount === null)
    return continued(lease, { error: 'the mount no longer exists', retryInSeconds: daySeconds });
  const matches = page.secrets.map(({ secret_id: secretId, path }) => ({ secretId, path }));
  const held = await confirmHolds(db, lease, page.mount.accessor, matches);
  const fresh = matches.filter(({ secretId }) => !held.has(secretId));
  const { error, stoppedAt } = await associateEach(work, lease, fresh, requestId);
  if (stoppedAt !== undefined) return interrupted(lease, matches, stoppedAt, error);
  const matchedSoFar = lease.matchedSoFar + matches.length;
  const isOver = lease.position === '' || lease.attempts > 0; // what has interrupted the run
  const shown = error ?? (isOver ? null : lease.error);
  if (page.next !== null) return continued(lease, { position: page.next, matchedSoFar, error: shown });
  return continued(lease, { phase: 'releasing', position: beforeFirst, matchedSoFar, error: shown });
}

/** Continues at the secret where a page has ended early. */
function interrupted(
  lease: RuleLease,
  matches: readonly Match[],
  stoppedAt: Match,
  error: string | null,
): RuleProgress {
  const before = matches.slice(0, matches.indexOf(stoppedAt));
  const failed = before.length > 0 ? 1 : lease.attempts + 1;
  return continued(lease, {
    position: before.at(-1)?.path ?? lease.position,
    matchedSoFar: lease.matchedSoFar + before.length,
    error,
    attempts: error === null ? 0 : failed,
    retryInSeconds: error === null ? 0 : Math.min(2 ** (failed - 1), maxPauseSeconds),
  });
}

interface Associated {
  /** Why nothing new is associated, or why the page has ended early; null if it has not, or its time was over. */
  error: string | null;
  /** The first match that was not tried. */
  stoppedAt?: Match;
}

async function associateEach(
  work: RuleWork,
  lease: RuleLease,
  matches: readonly Match[],
  requestId: string,
): Promise<Associated> {
  if (matches.length === 0) return { error: null };
  let associate: AssociateMatches;
  try {
    associate = await matchAssociator(work.context, lease, requestId);
  } catch (error) {
    if (error instanceof OwnerGone) return { error: error.message };
    throw error;
  }
  const endsAt = performance.now() + maxPageMs;
  for (let start = 0; start < matches.length; start += secretsAtOnce) {
    if (performance.now() > endsAt) return { error: null, stoppedAt: matches[start]! };
    const batch = matches.slice(start, start + secretsAtOnce);
    const outcomes = await associate(batch);
    const end = outcomes.findIndex(({ kind }) => kind === 'postponed');
    const done = end < 0 ? batch.length : end;
    await recordOutcomes(work, lease.id, batch.slice(0, done), outcomes);
    const secretIds = batch.slice(0, done).map(({ secretId }) => secretId);
    await matchOvertaken(work, lease, { secretIds, isMatch: true }, requestId);
    const postponed = outcomes[done];
    if (postponed?.kind === 'postponed') work.counts?.matches.inc({ outcome: 'postponed' });
    if (postponed?.kind === 'postponed') return { error: postponed.reason, stoppedAt: batch[done]! };
  }
  return { error: null };
}

/** Ends holds that the run has not confirmed. After the last one, the rule rests for a day. */
async function releaseSome(work: RuleWork, lease: RuleLease): Promise<RuleProgress> {
  const { db } = work.context;
  const page = await listHolds(db, lease, { after: lease.position, limit: holdsAtOnce });
  const stale = page.filter(({ isConfirmed }) => !isConfirmed);
  const ids = stale.map(({ associationId }) => associationId);
  if (stale.length > 0 && (await releaseHolds(db, lease, ids))) {
    const secretIds = stale.map(({ secretId }) => secretId);
    await matchOvertaken(work, lease, { secretIds, isMatch: false }, randomUUID());
  }
  if (page.length === holdsAtOnce) return continued(lease, { position: page.at(-1)!.associationId });
  const retryInSeconds = lease.error === null ? daySeconds : maxPauseSeconds;
  return continued(lease, { phase: 'resting', position: '', retryInSeconds });
}

/** Ends holds of a deleted rule, and deletes it after the last one. */
async function endSome({ db }: Context, lease: RuleLease): Promise<RuleProgress | undefined> {
  const page = await listHolds(db, lease, { after: beforeFirst, limit: holdsAtOnce });
  const ids = page.map(({ associationId }) => associationId);
  if (ids.length > 0 && !(await releaseHolds(db, lease, ids, lease.keeps))) return undefined;
  if (page.length === holdsAtOnce) return continued(lease, {});
  await deleteRule(db, lease.id);
  return undefined;
}

/** A rule that does not open was changed, or its key is missing: nothing is done for it. */
function afterFailure({ log }: RuleWork, lease: RuleLease, error: unknown): RuleProgress {
  const { destinationId, name: rule } = lease;
  const attempts = Math.min(lease.attempts + 1, 20);
  const isUnreadable = error instanceof SealError;
  logFailure(log, { error, destinationId, rule }, 'a rule could not continue');
  return continued(lease, {
    error: isUnreadable ? 'the owner of the rule cannot be read; write the rule again' : failureText(error),
    attempts,
    retryInSeconds: isUnreadable ? maxPauseSeconds : Math.min(2 ** attempts, maxPauseSeconds),
  });
}
