import type { Verdict } from '@secrets/broker';
import type { Tx } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { SecretChangedMessage, syncLogFields } from '@secrets/domain';
import { entriesOf, type Origin, pushChangedSecret, requestPut } from '@secrets/sync-entries';
import type { Logger, Metrics } from '@secrets/telemetry';
import { applyPlan } from '../associations/planning/apply-plan.ts';
import { requestAssociationRemoval } from '../associations/request-association-removal.ts';
import type { Context } from '../context.ts';
import { matchChanged } from '../destinations/rules/background/match-changed.ts';
import type { RuleCounts } from '../metrics/sync-metrics.ts';
import {
  type FollowedAssociation,
  isPlanLost,
  listAssociationIdsOfSecret,
  lockFollowed,
  recordPlan,
} from '../queries/associations/associations-of-secret.ts';
import { clearSourceMarks } from '../queries/changes/source-marks.ts';
import { isHeldByRule } from '../queries/rules/rule-holds.ts';
import { isRefused } from '../queries/rules/rule-refusals.ts';
import { isAdmitted } from './admit-removals.ts';
import { type FollowedKeys, followedKeys } from './followed-keys.ts';
import type { RemovalBrake } from './removal-brake.ts';
import type { InspectedSecret } from './secrets-client.ts';

/**
 * The dependencies of following secret changes. There is no request to refuse, so problems are recorded in the association and
 * the log.
 */
export interface FollowContext {
  context: Context;
  log: Logger;
  brake: RemovalBrake;
  /** Counts secrets that could not be followed. */
  failures?: ReturnType<Metrics['counter']>;
  /** Counts secrets that rules match. */
  counts?: RuleCounts;
}

/**
 * Handles the message that a secret may have changed. Where it is pushed as a whole, one statement is enough; its state
 * is read, and compared with the entries, only for other associations. Rules are compared with it if it is new or has other
 * metadata.
 */
export async function onSecretChange(
  following: FollowContext,
  message: unknown,
  requestId: string,
): Promise<Verdict> {
  const parsed = SecretChangedMessage.safeParse(message);
  if (!parsed.success) return 'dead-letter';
  const { secrets, db, queue } = following.context;
  const { secret_id: secretId, to_match: isToMatch } = parsed.data;
  const associations = await pushChangedSecret(db, secretId, Object.keys(destinationTypes));
  for (const type of new Set(associations.map(({ destinationType }) => destinationType))) queue.notify(type);
  const ids = associations.filter(({ isFollowed }) => !isFollowed).map(({ id }) => id);
  if (ids.length > 0) {
    const [secret] = await secrets.inspect(requestId, [secretId]);
    if (secret !== undefined) await followEach(following, { secret, origin: 'user' }, ids);
  }
  if (isToMatch || (associations.length === 0 && (await isRefused(db, secretId))))
    await matchChanged(following, secretId, requestId);
  return 'ack';
}

/**
 * Reconciles every association of a secret with the given state, each in its own transaction: one that fails does not hold up the
 * others. Throws the first failure. Associations that were planned from a later state are left alone, and so are those of
 * a destination type that this version does not have.
 */
export const followSecret = async (
  following: FollowContext,
  secret: InspectedSecret,
  origin: Origin = 'user',
): Promise<void> =>
  followEach(
    following,
    { secret, origin },
    await listAssociationIdsOfSecret(following.context.db, secret.secret_id),
  );

async function followEach(
  following: FollowContext,
  state: { secret: InspectedSecret; origin: Origin },
  associationIds: readonly string[],
): Promise<void> {
  const { db, queue } = following.context;
  const failures: unknown[] = [];
  for (const associationId of associationIds) {
    await db
      .transaction((tx) => followLocked(tx, following, { associationId, ...state }))
      .catch((error: unknown) => failures.push(error));
  }
  queue.notify();
  if (failures.length > 0) throw failures[0];
}

async function followLocked(
  tx: Tx,
  following: FollowContext,
  { associationId, secret, origin }: { associationId: string; secret: InspectedSecret; origin: Origin },
): Promise<void> {
  const association = await lockFollowed(tx, associationId, secret.secret_id);
  if (association === undefined || association.removing) return;
  const isGone = !secret.exists || !(association.byHand || (await isHeldByRule(tx, associationId)));
  if (isGone) return removeIfAdmitted(tx, association, origin);
  if (!Object.hasOwn(destinationTypes, association.type)) {
    const { log } = following;
    log.warn(associationLogFields(association), 'a destination type is unknown; not followed');
  } else if (secret.revision >= association.plannedRevision || (await isPlanLost(tx, associationId))) {
    await follow(tx, following, association, { secret, origin });
  } else await clearSourceMarks(tx, [associationId]);
}

/** The secret's metadata was deleted, its mount was disabled, or nothing holds the association any more. */
async function removeIfAdmitted(tx: Tx, association: FollowedAssociation, origin: Origin): Promise<void> {
  const entries = await entriesOf(tx, [association.id]);
  const removals = entries.filter(({ desired }) => desired === 'present').length;
  if (await isAdmitted(tx, association, removals))
    await requestAssociationRemoval(tx, [association.id], { origin, isRecoverable: true });
}

/** The maximum number of keys for which an association records why they are not synced. */
const maxRecordedKeys = 1_000;

/** Only added and removed keys at secret-key granularity matter here: the worker reads the value when it pushes. */
async function follow(
  tx: Tx,
  { context, log }: FollowContext,
  association: FollowedAssociation,
  { secret, origin }: { secret: InspectedSecret; origin: Origin },
): Promise<void> {
  const followed = secret.readable
    ? await followedKeys(tx, context.prefix, association, secret.keys)
    : undefined;
  const unnamed = followed?.unnamed ?? [];
  const mayRemove = await isAdmitted(tx, association, followed?.removals ?? 0);
  // With the earlier revision, the association is compared again, and its keys are removed once that is approved.
  const earlier = association.plannedRevision <= secret.revision ? association.plannedRevision : 0;
  const revision = mayRemove ? secret.revision : earlier;
  const awaited = followed?.awaitedNames ?? [];
  await recordPlan(tx, association.id, revision, unnamed.slice(0, maxRecordedKeys), awaited);
  if (mayRemove) await clearSourceMarks(tx, [association.id]);
  if (unnamed.length > 0)
    log.warn(
      { ...associationLogFields(association), secretId: secret.secret_id, keys: unnamed.length },
      'new keys of a secret are not synced: the destination does not allow their names',
    );
  if (followed === undefined) return pushAgain(tx, association.id, origin);
  await applyFollowed(tx, association, followed, { mayRemove, origin });
}

const associationLogFields = (association: FollowedAssociation) => ({
  associationId: association.id,
  ...syncLogFields({ destination: { ...association, id: association.destinationId }, source: association }),
});

const applyFollowed = (
  tx: Tx,
  { id, destinationId, type: destinationType }: FollowedAssociation,
  { wanted }: FollowedKeys,
  intent: { mayRemove: boolean; origin: Origin },
): Promise<void> =>
  applyPlan(tx, { id, destinationId, destinationType }, wanted, {
    overwrite: false,
    verify: false,
    isRecoverable: true,
    ...intent,
  });

async function pushAgain(tx: Tx, associationId: string, origin: Origin): Promise<void> {
  const entries = await entriesOf(tx, [associationId]);
  await requestPut(
    tx,
    entries.filter(({ desired }) => desired === 'present').map(({ id }) => id),
    { origin },
  );
}
