import type { Verdict } from '@secrets/broker';
import type { Tx } from '@secrets/db';
import { SecretChangedMessage } from '@secrets/domain';
import { entriesOf, requestPut } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import { applyPlan } from '../associations/apply-plan.ts';
import { requestAssociationRemoval } from '../associations/request-association-removal.ts';
import type { Context } from '../context.ts';
import {
  type FollowedAssociation,
  lockAssociationsOfSecret,
  recordPlan,
} from '../queries/associations-of-secret.ts';
import type { InspectedSecret } from '../secrets-client.ts';
import { followedKeys } from './followed-keys.ts';

/** The dependencies of following changes. No request can be refused, so problems go to the association and to the log. */
export interface Following {
  context: Context;
  log: Logger;
}

/** Handles the message that a secret may have changed: reads its state and updates its associations. */
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
 * Reconciles every association of a secret with the given state. Associations that were planned from a later state are
 * left alone.
 */
export async function followSecret({ context, log }: Following, secret: InspectedSecret): Promise<void> {
  await context.db.transaction(async (tx) => {
    for (const association of await lockAssociationsOfSecret(tx, secret.secret_id)) {
      if (association.removing) continue;
      // The secret's metadata was deleted or its mount was disabled.
      if (!secret.exists) await requestAssociationRemoval(tx, [association.id]);
      else if (secret.revision >= association.plannedRevision)
        await follow(tx, { context, log }, association, secret);
    }
  });
  context.queue.notify();
}

/** The maximum number of keys for which an association records why they are not synced. */
const maxRecordedKeys = 1_000;

/** Only added and removed keys at secret-key granularity matter here: the worker reads the value when it pushes. */
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
      'new keys of a secret are not synced: the destination does not allow their names',
    );
  if (followed === undefined) return pushAgain(tx, association.id);
  const planned = {
    id: association.id,
    destinationId: association.destinationId,
    destinationType: association.type,
  };
  await applyPlan(tx, planned, followed.wanted, { overwrite: false, verify: false });
}

async function pushAgain(tx: Tx, associationId: string): Promise<void> {
  const entries = await entriesOf(tx, [associationId]);
  await requestPut(
    tx,
    entries.filter(({ desired }) => desired === 'present').map(({ id }) => id),
  );
}
