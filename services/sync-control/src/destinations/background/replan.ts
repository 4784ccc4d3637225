import { isUniqueViolation, type PageRange, type Tx } from '@secrets/db';
import { Problem } from '@secrets/domain';
import { applyPlan } from '../../associations/planning/apply-plan.ts';
import { withNaming } from '../../associations/planning/naming.ts';
import {
  type ChangedPlan,
  planAgain,
  type Refusal,
  type Replanned,
} from '../../associations/planning/plan-again.ts';
import { namingSchemeOf } from '../../associations/planning/wanted-entries.ts';
import { isAdmitted } from '../../changes/admit-removals.ts';
import type { FollowContext } from '../../changes/on-secret-change.ts';
import type { InspectedSecret } from '../../changes/secrets-client.ts';
import { listAssociationsToReplan } from '../../queries/associations/association-pages.ts';
import type { AssociationRow } from '../../queries/associations/associations.ts';
import {
  type FollowedAssociation,
  lockFollowed,
  recordNamingScheme,
  recordPlan,
} from '../../queries/associations/associations-of-secret.ts';
import { findDestination } from '../../queries/destinations/destinations.ts';
import {
  claimReplan,
  type Refusals,
  recordReplanned,
  releaseReplan,
} from '../../queries/destinations/replans.ts';
import { readSources } from './replan-sources.ts';

const pageSize = 200;

/**
 * Plans one page of a destination's associations again, by its current template and granularity. One that a set would
 * refuse stays as it is; the destination shows how many there are, and why. The page is recorded at its end. If the
 * process dies first, another one repeats the page after a minute; what was already planned does not change. Returns
 * whether there may be another page.
 */
export async function advanceReplan(following: FollowContext, destinationId: string): Promise<boolean> {
  const { db } = following.context;
  const lease = await claimReplan(db, destinationId);
  if (lease === undefined) return false;
  try {
    const range = { after: lease.position, limit: pageSize };
    const page = await listAssociationsToReplan(db, destinationId, range);
    const refusals = await replanPage(following, page);
    const last = page.length === pageSize ? page.at(-1)!.id : null;
    await recordReplanned(db, lease, last, refusals);
    following.context.queue.notify();
    return last !== null;
  } catch (error) {
    await releaseReplan(db, destinationId);
    throw error;
  }
}

const maxReads = 3;

/** Reads the secrets of a page and plans each association; those that a change has overtaken are read again. */
async function replanPage(following: FollowContext, page: readonly AssociationRow[]): Promise<Refusals> {
  const refusals: Refusals = { refused: 0, error: null };
  let left = page;
  for (let read = 1; left.length > 0; read += 1) {
    const sources = await readSources(following.context, left);
    const again: AssociationRow[] = [];
    for (const association of left) {
      const refusal = await replanOne(following, association, sources.get(association.secretId));
      if (refusal === undefined) continue;
      if (refusal.isTemporary && read < maxReads) again.push(association);
      else refuse(refusals, association, refusal);
    }
    left = again;
  }
  return refusals;
}

function refuse(refusals: Refusals, { mount, secretName }: AssociationRow, { reason }: Refusal): void {
  refusals.refused += 1;
  refusals.error = `${mount}/${secretName}: ${reason}`;
}

/** Returns why an association stays as it is; undefined if it was planned, needed no change, or is being removed. */
async function replanOne(
  following: FollowContext,
  { id, secretId, destinationId, mount, secretName }: AssociationRow,
  secret: InspectedSecret | undefined,
): Promise<Refusal | undefined> {
  try {
    return await following.context.db.transaction((tx) =>
      replanLocked(tx, following, { id, secretId }, secret),
    );
  } catch (error) {
    if (error instanceof Problem) return { reason: error.message, isTemporary: error.kind === 'unavailable' };
    if (isUniqueViolation(error)) return { reason: 'another association has just taken its external name' };
    const fields = { error, associationId: id, destinationId, mount, secretName };
    following.log.error(fields, 'an association could not be planned again');
    return { reason: 'an unexpected failure; see the log of sync-control' };
  }
}

async function replanLocked(
  tx: Tx,
  following: FollowContext,
  { id, secretId }: { id: string; secretId: string },
  secret: InspectedSecret | undefined,
): Promise<Refusal | undefined> {
  const replanned = await lockReplanned(tx, { id, secretId });
  if (replanned === undefined) return undefined;
  const { association, destination } = replanned;
  const plan = await planAgain(tx, following.context.prefix, replanned, secret);
  if (plan !== undefined && 'reason' in plan) return plan;
  if (plan === undefined) return void (await recordNamingScheme(tx, id, namingSchemeOf(destination)));
  if (!(await isAdmitted(tx, association, plan.removals)))
    return { reason: 'its keys are gone from the secret: they are removed first, or their removal is held' };
  await writePlan(tx, association, plan);
  return void (await recordNamingScheme(tx, id, namingSchemeOf(destination)));
}

/** Locks an association and reads its destination; undefined if there is nothing to plan. */
async function lockReplanned(
  tx: Tx,
  { id, secretId }: { id: string; secretId: string },
): Promise<Replanned | undefined> {
  const association = await lockFollowed(tx, id, secretId);
  if (association === undefined || association.removing) return undefined;
  const destination = await findDestination(tx, association);
  return destination && { association, destination: withNaming(destination, association.naming) };
}

async function writePlan(
  tx: Tx,
  { id, destinationId, type, plannedRevision }: FollowedAssociation,
  { wanted, revision }: ChangedPlan,
): Promise<void> {
  const planned = { id, destinationId, destinationType: type };
  await recordPlan(tx, id, Math.max(revision, plannedRevision), []);
  await applyPlan(tx, planned, wanted, { overwrite: false, verify: false, origin: 'background' });
}

/** Changes and refusals of a replan, for one page of associations. */
export interface ReplanPreview {
  changes: { association: AssociationRow; plan: ChangedPlan }[];
  refusals: { association: AssociationRow; reason: string }[];
  /** The last association of the page; undefined if no other one follows. */
  next?: string | undefined;
}

/** Returns what a replan would change of the associations in this range, without writing anything. */
export async function previewReplan(
  context: FollowContext['context'],
  destinationId: string,
  range: PageRange,
): Promise<ReplanPreview> {
  const page = await listAssociationsToReplan(context.db, destinationId, range);
  const sources = await readSources(context, page);
  const preview: ReplanPreview = {
    changes: [],
    refusals: [],
    next: page.length === range.limit ? page.at(-1)!.id : undefined,
  };
  for (const association of page) {
    const plan = await previewOne(context, association, sources.get(association.secretId));
    if (plan === undefined) continue;
    if ('reason' in plan) preview.refusals.push({ association, reason: plan.reason });
    else preview.changes.push({ association, plan });
  }
  return preview;
}

const previewOne = (
  { db, prefix }: FollowContext['context'],
  { id, secretId }: AssociationRow,
  secret: InspectedSecret | undefined,
): Promise<ChangedPlan | Refusal | undefined> =>
  db
    .transaction(async (tx) => {
      const replanned = await lockReplanned(tx, { id, secretId });
      return replanned && planAgain(tx, prefix, replanned, secret);
    })
    .catch((error: unknown) => {
      if (error instanceof Problem) return { reason: error.message };
      throw error;
    });
