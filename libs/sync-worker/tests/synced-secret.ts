import { randomUUID } from 'node:crypto';
import type { Db } from '@secrets/db';
import { versionAad } from '@secrets/domain';
import { encrypt, type KeyRing } from '@secrets/seal';
import { insertEntries } from '@secrets/sync-entries';

export const destinationType = 'cloudA-sm';

/** Inserts a secret with this data, and pending entries that push each of its keys. Returns the IDs of the entries. */
export async function insertSyncedSecret(
  db: Db,
  keyRing: KeyRing,
  data: Record<string, string>,
  type: string = destinationType,
): Promise<string[]> {
  const destinationId = randomUUID();
  const secretId = await insertSecret(db, keyRing, JSON.stringify(data));
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1::uuid, 'root', '', $2, $1::text, '{}')`,
    [destinationId, type],
  );
  const [association] = await db.query<{ id: string }>(
    `insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
     values ($1, 'root', $2, 'kv', 'kv_1', $2, 's', 1) returning id`,
    [destinationId, secretId],
  );
  const place = { id: association!.id, destinationId, destinationType: type };
  const wanted = Object.keys(data).map((key) => ({ subKey: key, externalName: key, collisionKey: key }));
  return (await insertEntries(db, place, wanted)).map(({ id }) => id);
}

async function insertSecret(db: Db, keyRing: KeyRing, text: string): Promise<string> {
  const [mountId, secretId, versionId] = [randomUUID(), randomUUID(), randomUUID()];
  await db.query(
    `insert into secrets.mounts (id, namespace_id, path, accessor) values ($1::uuid, 'root', $1::text, $1::text)`,
    [mountId],
  );
  await db.query(
    `insert into secrets.secrets (id, mount_id, path, current_version) values ($1, $2, 's', 1)`,
    [secretId, mountId],
  );
  const sealed = encrypt(keyRing, versionAad({ mountId, path: 's', versionId }), Buffer.from(text));
  await db.query(
    `insert into secrets.versions (secret_id, version, id, sealed, created_at) values ($1, 1, $2, $3, now())`,
    [secretId, versionId, sealed],
  );
  return secretId;
}
