import type { Db } from '@secrets/db';
import type { Logger } from '@secrets/telemetry';
import { deletePageOfUsage } from '../queries/rate-limits.ts';
import {
  type DeadTokens,
  deletePageOfEntities,
  deletePageOfTokens,
  forgetRemovedOwner,
  listRemovedOwners,
  type RemovedOwner,
} from '../queries/tokens/delete-tokens.ts';
import { deleteOldChanges } from '../queries/tokens/revocations.ts';

export interface Sweep {
  db: Db;
  log: Logger;
  isStopping?: () => boolean;
}

const pageSize = 500;
const usagePageSize = 5_000;
/** A log line after so many pages of a removed mount or namespace. */
const pagesPerLine = 20;

/**
 * Deletes every token that cannot be used any more, the entities of removed auth mounts and namespaces, old changes of
 * access, and what was used of rate limits, page by page. Returns the number of tokens. Each page is one transaction,
 * so the sweep may die at any page, be repeated, and run in several processes at once.
 */
export async function sweepTokens(sweep: Sweep): Promise<number> {
  let total = 0;
  for (const owner of await listRemovedOwners(sweep.db)) total += await sweepOwner(sweep, owner);
  for (const which of ['expired', 'used up'] as const) total += await deleteTokens(sweep, which);
  await deleteOldChanges(sweep.db);
  await deleteOldUsage(sweep);
  return total;
}

async function deleteOldUsage({ db, isStopping = () => false }: Sweep): Promise<void> {
  for (let deleted = usagePageSize; deleted === usagePageSize && !isStopping(); )
    deleted = await deletePageOfUsage(db, usagePageSize);
}

async function sweepOwner(sweep: Sweep, owner: RemovedOwner): Promise<number> {
  const { db, log, isStopping = () => false } = sweep;
  const tokens = await deleteTokens(sweep, owner);
  let entities = 0;
  for (let deleted = pageSize; deleted === pageSize && !isStopping(); entities += deleted)
    deleted = await deletePageOfEntities(db, owner, pageSize);
  if (isStopping()) return tokens;
  if (await forgetRemovedOwner(db, owner))
    log.info({ ...owner, tokens, entities }, 'tokens and entities of a removed owner deleted');
  return tokens;
}

async function deleteTokens(
  { db, log, isStopping = () => false }: Sweep,
  which: DeadTokens,
): Promise<number> {
  let total = 0;
  for (let pages = 1; !isStopping(); pages++) {
    const { found, deleted, detached } = await deletePageOfTokens(db, which, pageSize);
    total += deleted;
    if (typeof which !== 'string' && pages % pagesPerLine === 0)
      log.info({ ...which, deleted: total }, 'deleting tokens of a removed owner');
    const isDone = deleted === found && found < pageSize && detached === 0;
    if (isDone || deleted + detached === 0) return total;
  }
  return total;
}
