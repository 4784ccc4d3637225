import type { Verdict } from '@secrets/broker';
import type { Tx } from '@secrets/db';
import { findDescription } from '@secrets/destinations';
import { SecretChangedMessage } from '@secrets/domain';
import { entriesOf, type NewEntry, namesTaken, wantPresent } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import { applyPlan } from './apply-plan.ts';
import type { Context } from './context.ts';
import { planEntries } from './plan-entries.ts';
import { lockAssociationsOfSecret, notePlanned } from './queries/associations.ts';
import { findDestination } from './queries/destinations.ts';
import type { InspectedSecret } from './secrets-client.ts';
import { wantGone } from './want-gone.ts';
import { possibleEntries } from './wanted-entries.ts';

/** Who follows changes: there is no caller to tell, so the log is told. */
export interface Following {
  context: Context;
  log: Logger;
}

type Associated = Awaited<ReturnType<typeof lockAssociationsOfSecret>>[number];

/** Handles "secret S may read differently now": looks how it stands, and writes what follows for its associations. */
export async function onSecretChange(
  following: Following,
  message: unknown,
  requestId: string,
): Promise<Verdict> {
  const parsed = SecretChangedMessage.safeParse(message);
  if (!parsed.success) return 'park';
  const [secret] = await following.context.secrets.inspect(requestId, [parsed.data.secret_id]);
  if (secret !== undefined) await followSecret(following, secret);
  return 'ack';
}

/**
 * Brings every association of a secret in line with how it stands. What was seen earlier than what an association was
 * last planned from is left alone: a later look has already won.
 */
export async function followSecret({ context, log }: Following, secret: InspectedSecret): Promise<void> {
  await context.db.transaction(async (tx) => {
    for (const association of await lockAssociationsOfSecret(tx, secret.secret_id)) {
      if (association.removing) continue;
      // Its metadata or its mount is gone: unsynced, and the association goes with it.
      if (!secret.exists) await wantGone(tx, [association.id]);
      else if (secret.revision >= association.plannedRevision)
        await follow(tx, { context, log }, association, secret);
    }
  });
  context.queue.nudge();
}

/** The worker reads what is readable when it gets there; here only keys that came or went at secret-key granularity matter. */
async function follow(
  tx: Tx,
  following: Following,
  association: Associated,
  secret: InspectedSecret,
): Promise<void> {
  await notePlanned(tx, association.id, secret.revision);
  const wanted = secret.readable ? await keysWanted(tx, following, association, secret) : undefined;
  if (wanted === undefined) return pushAgain(tx, association.id);
  const place = {
    id: association.id,
    destinationId: association.destinationId,
    destinationType: association.type,
  };
  await applyPlan(tx, place, wanted, { overwrite: false, verify: false });
}

async function pushAgain(tx: Tx, associationId: string): Promise<void> {
  const entries = await entriesOf(tx, [associationId]);
  await wantPresent(
    tx,
    entries.filter(({ desired }) => desired === 'present').map(({ id }) => id),
  );
}

/** Undefined at secret-path granularity: one entry, whatever the keys. */
async function keysWanted(
  tx: Tx,
  { context: { prefix }, log }: Following,
  association: Associated,
  secret: InspectedSecret,
): Promise<NewEntry[] | undefined> {
  const { namespaceId, type, name, mount, accessor, secretName } = association;
  const destination = await findDestination(tx, { namespaceId, type, name });
  const existing = await entriesOf(tx, [association.id]);
  if (destination?.settings.granularity !== 'secret-key' || existing.some(({ subKey }) => subKey === ''))
    return undefined;
  const namespace = { id: namespaceId, path: association.namespacePath };
  const named = { mount, accessor, secretName, namespace, keys: secret.keys };
  const { entries, refused } = possibleEntries(findDescription(type), destination, named, prefix);
  const taken = await takenNames(tx, destination.id, planEntries(existing, entries).create);
  const unnamed = refused + taken.size;
  // Not which: that is for the answer of whoever sets the association again.
  if (unnamed > 0)
    log.warn(
      { associationId: association.id, secretId: secret.secret_id, keys: unnamed },
      'new keys of a secret cannot be named in the destination and are not synced',
    );
  return entries.filter(({ collisionKey }) => !taken.has(collisionKey));
}

/** Those of the new names that another secret has in the destination. */
async function takenNames(tx: Tx, destinationId: string, created: readonly NewEntry[]): Promise<Set<string>> {
  if (created.length === 0) return new Set();
  const keys = created.map(({ collisionKey }) => collisionKey);
  return new Set((await namesTaken(tx, destinationId, keys)).map(({ collisionKey }) => collisionKey));
}
