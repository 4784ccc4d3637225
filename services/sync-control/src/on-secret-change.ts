import type { Verdict } from '@secrets/broker';
import type { Tx } from '@secrets/db';
import { SecretChangedMessage } from '@secrets/domain';
import { entriesOf, requestPut } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import { applyPlan } from './apply-plan.ts';
import type { Context } from './context.ts';
import { type FollowedAssociation, followedKeys } from './followed-keys.ts';
import { lockAssociationsOfSecret, recordPlan } from './queries/associations.ts';
import { requestAssociationRemoval } from './request-association-removal.ts';
import type { InspectedSecret } from './secrets-client.ts';

/** Who follows changes: there is no caller to tell, so the association's readers and the log are told. */
export interface Following {
  context: Context;
  log: Logger;
}

/** Handles "secret S may read differently now": looks how it stands, and writes what follows for its associations. */
export async function onSecretChange(
  following: Following,
  message: unknown,
  requestId: string,
): Promise<Verdict> {
  const parsed = SecretChangedMessage.safeParse(message);
  if (!parsed.success) return 'dead-letter';
  const [secret] = await following.context.secrets.inspect(requestId, [parsed.data.secret_id]);
  if (secret !== undefined) await followSecret(following, secret);
  return 'ack';
}

/**
 * Reconciles every association of a secret with its current state. What was seen earlier than what an association was
 * last planned from is left alone: a later look has already won.
 */
export async function followSecret({ context, log }: Following, secret: InspectedSecret): Promise<void> {
  await context.db.transaction(async (tx) => {
    for (const association of await lockAssociationsOfSecret(tx, secret.secret_id)) {
      if (association.removing) continue;
      // Its metadata or its mount is gone: unsynced, and the association goes with it.
      if (!secret.exists) await requestAssociationRemoval(tx, [association.id]);
      else if (secret.revision >= association.plannedRevision)
        await follow(tx, { context, log }, association, secret);
    }
  });
  context.queue.notify();
}

/** Of so many keys at most the association says why they are not synced. */
const maxRecordedKeys = 1_000;

/** The worker reads what is readable when it gets there; here only keys that came or went at secret-key granularity matter. */
async function follow(
  tx: Tx,
  { context, log }: Following,
  association: FollowedAssociation,
  secret: InspectedSecret,
): Promise<void> {
  const followed = secret.readable
    ? await followedKeys(tx, context.prefix, association, secret.keys)
    : undefined;
  const unnamed = followed?.unnamed ?? [];
  await recordPlan(tx, association.id, secret.revision, unnamed.slice(0, maxRecordedKeys));
  if (unnamed.length > 0)
    log.warn(
      { associationId: association.id, secretId: secret.secret_id, keys: unnamed.length },
      'new keys of a secret cannot be named in the destination and are not synced',
    );
  if (followed === undefined) return pushAgain(tx, association.id);
  const place = {
    id: association.id,
    destinationId: association.destinationId,
    destinationType: association.type,
  };
  await applyPlan(tx, place, followed.wanted, { overwrite: false, verify: false });
}

async function pushAgain(tx: Tx, associationId: string): Promise<void> {
  const entries = await entriesOf(tx, [associationId]);
  await requestPut(
    tx,
    entries.filter(({ desired }) => desired === 'present').map(({ id }) => id),
  );
}
