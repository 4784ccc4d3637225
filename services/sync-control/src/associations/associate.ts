import type { Caller } from '@secrets/caller';
import { isUniqueViolation, type Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { Problem } from '@secrets/domain';
import { liftPause, readSyncConfig } from '@secrets/sync-entries';
import type { WatchedSecret } from '../changes/secrets-client.ts';
import type { Context } from '../context.ts';
import { requireInUse } from '../destinations/background/require-no-purge.ts';
import {
  type DestinationRef,
  requireDestination,
  requireLockedDestination,
} from '../destinations/require-destination.ts';
import { upsertAssociation } from '../queries/associations/associations.ts';
import {
  isPlanLost,
  recordNamingScheme,
  recordPlan,
} from '../queries/associations/associations-of-secret.ts';
import type { DestinationRow } from '../queries/destinations/destinations.ts';
import { addHolds, type HoldingRule, isRuleUnchanged, lockHoldable } from '../queries/rules/rule-holds.ts';
import { applyPlan } from './planning/apply-plan.ts';
import { whyOtherNaming, withNaming } from './planning/naming.ts';
import { requireSyncableKeys } from './planning/require-syncable-keys.ts';
import { namingSchemeOf, wantedEntries } from './planning/wanted-entries.ts';
import { requireOverwriteAccess } from './require-overwrite-access.ts';
import { requireReadAccess, requireSyncable } from './require-settable.ts';

export interface AssociationRequest extends DestinationRef {
  mount: string;
  secretName: string;
  /** Takes over an existing external secret of that name that does not belong to any destination. */
  overwrite: boolean;
  /** The rule that holds it; by default, it is held by hand. */
  heldBy?: HoldingRule;
}

/**
 * Sets an association (docs/conventions/sync.md#set). The intent and its announcement are one row, written in one
 * transaction; after it nothing can be lost. Waits up to `waitMs` for the outcome. Returns the ID of the association.
 *
 * Throws `not_found` if the destination does not exist, `forbidden` if the caller may not read the secret itself, or may not
 * overwrite, `invalid` if the mount or the secret cannot be synced, `conflict` if another association has the external name
 * or the destination is being purged, `queue_full` if there is no room, `unavailable` if the rule that is to hold it was written
 * meanwhile.
 */
export async function associate(
  context: Context,
  caller: Caller,
  request: AssociationRequest,
  waitMs: number,
): Promise<string> {
  const destination = await requireDestination(context, caller, request);
  await requireReadAccess(context, caller, request);
  const { stoppedBecause } = await readSyncConfig(context.db);
  const id = await readAndRecordIntent(context, caller, { request, destination });
  context.queue.notify();
  await context.queue.outcome(id, stoppedBecause === null ? waitMs : 0);
  return id;
}

const maxReads = 5;

/** Reads the secret and plans from what was read; reads again if a change has overtaken the read. */
async function readAndRecordIntent(
  context: Context,
  caller: Caller,
  { request, destination }: { request: AssociationRequest; destination: DestinationRow },
): Promise<string> {
  for (let read = 1; read <= maxReads; read += 1) {
    const secret = await context.secrets.watch(caller, request.mount, request.secretName);
    requireSyncable(secret, request);
    const named = withNaming(destination, request.heldBy?.naming);
    const operations = named.settings.granularity === 'secret-key' ? secret.keys.length : 1;
    const full = await context.queue.room.whyFull(operations);
    const id = await context.db
      .transaction((tx) => recordIntent(tx, context, caller, { request, secret, full }))
      .catch(ignoreStaleRead);
    if (id !== undefined) return id;
  }
  throw new Problem('conflict', 'the secret changes faster than it can be associated; try again');
}

/** The association is already planned from a later read of its secret, whose keys must not be undone. */
class StaleRead extends Error {}

function ignoreStaleRead(error: unknown): undefined {
  if (!(error instanceof StaleRead)) rethrowNameConflict(error);
}

interface Intent {
  request: AssociationRequest;
  secret: WatchedSecret;
  /** The problem to throw if the queue would grow. */
  full: Problem | undefined;
}

async function recordIntent(
  tx: Tx,
  context: Context,
  caller: Caller,
  { request, secret, full }: Intent,
): Promise<string> {
  const destination = await requireLockedDestination(tx, caller, request);
  if (request.overwrite) requireOverwriteAccess(caller, destination);
  const { heldBy } = request;
  if (heldBy === undefined) {
    await requireInUse(tx, destination);
    await liftPause(tx, destination.id);
  } else {
    const held = await holdExisting(tx, destination, heldBy, { request, secret });
    if (held !== undefined) return held;
  }
  const association = await upsertAssociation(tx, {
    destinationId: destination.id,
    namespaceId: caller.namespace.id,
    mountId: secret.mount_id,
    mount: secret.mount_path,
    accessor: secret.accessor,
    secretId: secret.secret_id!,
    secretName: request.secretName,
    revision: secret.revision,
    shape: namingSchemeOf(withNaming(destination, heldBy?.naming)),
    naming: heldBy === undefined ? null : heldBy.naming,
    byHand: heldBy === undefined,
  });
  if (heldBy !== undefined) await addHolds(tx, heldBy, [association.id]);
  if (association.plannedRevision > secret.revision)
    await requireLostPlan(tx, association.id, secret.revision);
  const named = {
    ...secret,
    mount: secret.mount_path,
    secretName: request.secretName,
    namespace: caller.namespace,
  };
  const ownNaming = withNaming(destination, association.naming);
  requireSyncableKeys(secret, request, ownNaming);
  const shaped = { ...ownNaming, shape: namingSchemeOf(ownNaming) };
  await recordNamingScheme(tx, association.id, shaped.shape);
  const wanted = wantedEntries(findDescription(destination.type), shaped, named, context.prefix);
  const planned = { id: association.id, destinationId: destination.id, destinationType: destination.type };
  await applyPlan(tx, planned, wanted, { overwrite: request.overwrite, verify: true, full });
  return association.id;
}

/**
 * Has a rule hold an association that exists, without a push. Returns its ID; undefined if it has to be set. Throws `unavailable`
 * if the destination is being purged, or the rule was written since its lease began; `conflict` if the association has another
 * naming.
 */
async function holdExisting(
  tx: Tx,
  destination: DestinationRow,
  rule: HoldingRule,
  { request, secret }: Pick<Intent, 'request' | 'secret'>,
): Promise<string | undefined> {
  await requireHoldable(tx, destination, rule);
  const { id: destinationId } = destination;
  const { accessor } = secret;
  const named = { destinationId, accessor, secretName: request.secretName, secretId: secret.secret_id! };
  const existing = await lockHoldable(tx, named);
  if (existing === undefined) return undefined;
  const why = whyOtherNaming(rule.naming, existing.naming);
  if (why !== undefined) throw new Problem('conflict', why);
  await addHolds(tx, rule, [existing.id]);
  return existing.id;
}

/** Throws `unavailable` if a rule cannot hold associations of the destination now. It then stays as it is for the transaction. */
export async function requireHoldable(
  tx: Tx,
  { purgeInitiatedAt }: DestinationRow,
  rule: HoldingRule,
): Promise<void> {
  if (purgeInitiatedAt !== null) throw new Problem('unavailable', 'this destination is being purged');
  if (!(await isRuleUnchanged(tx, rule))) throw new Problem('unavailable', 'the rule was written meanwhile');
}

/** A plan from a later read of the secret is kept, unless what was read has been lost since. */
async function requireLostPlan(tx: Tx, associationId: string, revision: number): Promise<void> {
  if (!(await isPlanLost(tx, associationId))) throw new StaleRead();
  await recordPlan(tx, associationId, revision, []);
}

/** If two associations take a name at the same time, the second one is refused like any other collision. */
function rethrowNameConflict(error: unknown): never {
  if (isUniqueViolation(error, 'entries_destination_id_collision_key_key')) {
    throw new Problem('conflict', 'another association has just taken this external name in the destination');
  }
  throw error;
}
