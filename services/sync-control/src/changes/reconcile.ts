import { randomUUID } from 'node:crypto';
import type { Tx } from '@secrets/db';
import { countPresent, entriesOf, hasDrifted, requestPut, reviveParkedEntries } from '@secrets/sync-entries';
import {
  claimReconciliation,
  endRound,
  listPlannedRevisions,
  type PlannedRevisionRow,
  recordPosition,
  releaseReconciliation,
} from '../queries/changes/reconciliation.ts';
import { lockBrake } from '../queries/changes/removal-brakes.ts';
import {
  clearSourceMarks,
  listDestinationsToSettle,
  lockAssociations,
  markSourcesGone,
} from '../queries/changes/source-marks.ts';
import { forEachDestination } from './each-destination.ts';
import { followAll } from './follow-all.ts';
import type { FollowContext } from './on-secret-change.ts';
import { holdMarkedIfTooMany, type RemovalBrake, settleMarks } from './removal-brake.ts';
import type { SecretRevision } from './secrets-client.ts';

const pageSize = 500;
/** The secrets service decrypts these. */
const inspectedAtOnce = 20;

/**
 * Compares every association with its secret, in case an event was lost: page by page, one process at a time, at most once
 * in `intervalSeconds`. Only revisions are compared; secrets that have changed are opened and followed. Associations whose
 * secret is gone are marked, and removed only after the whole round, if they are few enough. The position is stored, so
 * that another process continues a round after a stop or a crash. Returns how many secrets were followed.
 */
export async function reconcile(
  following: FollowContext,
  intervalSeconds: number,
  shouldStop: () => boolean,
): Promise<number> {
  const { db } = following.context;
  const owner = randomUUID();
  const position = await claimReconciliation(db, owner, intervalSeconds);
  if (position === undefined) return 0;
  try {
    return await continueRound(following, { owner, position }, shouldStop);
  } finally {
    await releaseReconciliation(db, owner);
  }
}

async function continueRound(
  following: FollowContext,
  { owner, position }: { owner: string; position: string },
  shouldStop: () => boolean,
): Promise<number> {
  const { db } = following.context;
  let followed = 0;
  let page = await listPlannedRevisions(db, { after: position, limit: pageSize });
  while (page.length > 0) {
    followed += await reconcilePage(
      following,
      page.filter(({ isFollowed }) => isFollowed),
    );
    const last = page.at(-1)!.id;
    const isStillOwner = await recordPosition(db, owner, last);
    if (!isStillOwner || shouldStop()) return followed;
    page = await listPlannedRevisions(db, { after: last, limit: pageSize });
  }
  const toSettle = (await listDestinationsToSettle(db)).map((id) => [id, undefined] as const);
  await forEachDestination(following, toSettle, (destinationId) =>
    db.transaction((tx) => settleMarks(tx, following.brake, destinationId)),
  );
  await reviveParkedEntries(db);
  await endRound(db, owner);
  return followed;
}

async function reconcilePage(following: FollowContext, page: readonly PlannedRevisionRow[]): Promise<number> {
  const { secrets } = following.context;
  if (page.length === 0) return 0;
  const secretIds = [...new Set(page.map(({ secretId }) => secretId))];
  const revisions = await secrets.revisions(randomUUID(), secretIds);
  const { gone, returned, changed } = compareRevisions(page, revisions);
  await acceptReturned(following, returned);
  await markGone(following, gone);
  let followed = 0;
  for (let start = 0; start < changed.length; start += inspectedAtOnce) {
    const ids = changed.slice(start, start + inspectedAtOnce);
    followed += await followAll(following, await secrets.inspect(randomUUID(), ids));
  }
  return followed;
}

/** Differences that were found on a page of associations. */
interface Comparison {
  /** Associations whose secret is gone, or that nothing holds, and that are not marked yet. */
  gone: PlannedRevisionRow[];
  /** Marked associations whose secret exists again at the revision that they were planned from. */
  returned: PlannedRevisionRow[];
  /** IDs of secrets with an association that was planned from an earlier revision. */
  changed: string[];
}

/** Compares associations with the revisions of their secrets. A secret without a revision has an unknown state and is ignored. */
export function compareRevisions(
  page: readonly PlannedRevisionRow[],
  revisions: readonly SecretRevision[],
): Comparison {
  const current = new Map(revisions.map((revision) => [revision.secret_id, revision]));
  const comparison: Comparison = { gone: [], returned: [], changed: [] };
  const changed = new Set<string>();
  for (const association of page) {
    const secret = current.get(association.secretId);
    if (secret === undefined) continue;
    if (!secret.exists || !association.isHeld) {
      if (!association.isMarked) comparison.gone.push(association);
    } else if (secret.revision > association.plannedRevision) changed.add(association.secretId);
    else if (association.isMarked) comparison.returned.push(association);
  }
  return { ...comparison, changed: [...changed] };
}

const acceptReturned = (following: FollowContext, returned: readonly PlannedRevisionRow[]): Promise<void> =>
  forEachDestination(following, byDestination(returned), (_, associations) =>
    following.context.db.transaction((tx) =>
      acceptReturnedOf(
        tx,
        associations.map(({ id }) => id),
      ),
    ),
  );

const byDestination = (associations: readonly PlannedRevisionRow[]): Map<string, PlannedRevisionRow[]> =>
  Map.groupBy(associations, ({ destinationId }) => destinationId);

/** Workers refuse to push an entry whose source is gone, so those that failed meanwhile are pushed again. */
async function acceptReturnedOf(tx: Tx, associationIds: readonly string[]): Promise<void> {
  await clearSourceMarks(tx, associationIds);
  const entries = await entriesOf(tx, associationIds);
  const failed = entries.filter(
    (entry) => entry.desired === 'present' && entry.status === 'CLIENT_SIDE_ERROR' && !hasDrifted(entry),
  );
  await requestPut(
    tx,
    failed.map(({ id }) => id),
    { origin: 'background' },
  );
}

/** The marks of one destination and the decision on them are one transaction, so that no other removal comes between them. */
const markGone = (following: FollowContext, gone: readonly PlannedRevisionRow[]): Promise<void> =>
  forEachDestination(following, byDestination(gone), (destinationId, associations) =>
    following.context.db.transaction((tx) =>
      markGoneOf(tx, following.brake, { destinationId, associations }),
    ),
  );

async function markGoneOf(
  tx: Tx,
  brake: RemovalBrake,
  { destinationId, associations }: { destinationId: string; associations: readonly PlannedRevisionRow[] },
): Promise<void> {
  const ids = associations.map(({ id }) => id);
  await lockAssociations(tx, ids);
  await lockBrake(tx, destinationId); // an approval that is being made now covers none of these marks
  const present = await countPresent(tx, ids);
  await markSourcesGone(
    tx,
    associations.map(({ id, secretId }) => ({
      associationId: id,
      secretId,
      removals: present.get(id) ?? 0,
    })),
  );
  await holdMarkedIfTooMany(tx, brake, destinationId);
}
