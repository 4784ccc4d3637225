import type { Operation } from '../../load/operation.ts';

/** The time of the commits that a promoted standby lacks, in milliseconds of `performance.now`. */
export interface LostCommits {
  from: number;
  /** Nothing was committed from then on until the standby was promoted. */
  until: number;
}

/**
 * Returns the history as the promoted standby may know it. An operation that was in progress while commits were lost
 * may have had an effect or none, even if it was acknowledged; a read of that time has no meaning any more.
 */
export const survived = (history: readonly Operation[], { from, until }: LostCommits): Operation[] =>
  history.flatMap((operation): Operation[] => {
    const isUncertain = operation.endedAt >= from && operation.invokedAt < until;
    if (!isUncertain || operation.outcome === 'failed') return [operation];
    return operation.act === 'read' ? [] : [{ ...operation, outcome: 'unknown' }];
  });
