import type { Sql } from '@secrets/db';
import { type KeyRing, keyedHash, matchesKeyedHash, type SealKey } from '@secrets/seal';

/** The schemas with sealed bytes. */
export type SealedSchema = 'login' | 'secrets' | 'sync';

/** A key with which something may be encrypted. */
export interface RecordedKey {
  id: string;
  fingerprint: string;
  usedAt: Date;
}

/** A key that is needed to decrypt what is stored is not in the key file, or another one has its name. */
export class SealKeyError extends Error {
  override readonly name = 'SealKeyError';
}

const purpose = 'fingerprint of a seal key';

/** Differs for a bound key: what it sealed cannot be opened without the word `bound`, and the other way round. */
const fingerprinted = ({ isBound }: SealKey): string => (isBound ? 'bound' : '');

const fingerprintOf = (keyRing: KeyRing, key: SealKey): string =>
  keyedHash(keyRing, purpose, fingerprinted(key), key.id);

/**
 * Records that this process encrypts with the current key of the ring, and checks that the ring has every key that may be
 * needed. Without a record of any key, each key of the ring may have been used, because earlier versions recorded none. Writes
 * nothing if some process has recorded that key within the last `freshSeconds`, so that the number of processes does not
 * matter.
 * @throws {SealKeyError} if a key is missing, or is another one
 */
export async function recordSealKeys(
  sql: Sql,
  schema: SealedSchema,
  keyRing: KeyRing,
  { freshSeconds = 0 } = {},
): Promise<void> {
  const recorded = await listSealKeys(sql, schema);
  requireRecordedKeys(keyRing, schema, recorded);
  const used = recorded.length === 0 ? keyRing.keys : [keyRing.current];
  await sql.query(
    `insert into ${schema}.seal_keys (id, fingerprint)
     select used.id, used.fingerprint from unnest($1::text[], $2::text[]) as used (id, fingerprint)
      where not exists (select from ${schema}.seal_keys k where k.id = used.id and k.used_at > now() - make_interval(secs => $3))
     on conflict (id) do update set used_at = now()`,
    [used.map(({ id }) => id), used.map((key) => fingerprintOf(keyRing, key)), freshSeconds],
  );
}

/**
 * Checks that the ring has every key that may be needed to decrypt what these schemas store, for a process that encrypts nothing.
 * @throws {SealKeyError} if a key is missing, or is another one
 */
export async function requireSealKeys(
  sql: Sql,
  schemas: readonly SealedSchema[],
  keyRing: KeyRing,
): Promise<void> {
  for (const schema of schemas) requireRecordedKeys(keyRing, schema, await listSealKeys(sql, schema));
}

/** Like `requireSealKeys`, with the keys that were recorded in a database or are listed in a backup of it. */
export function requireRecordedKeys(
  keyRing: KeyRing,
  schema: SealedSchema,
  recorded: readonly Pick<RecordedKey, 'id' | 'fingerprint'>[],
): void {
  for (const key of recorded) requireKey(keyRing, key, schema);
}

function requireKey(
  keyRing: KeyRing,
  { id, fingerprint }: Pick<RecordedKey, 'id' | 'fingerprint'>,
  schema: SealedSchema,
): void {
  const key = keyRing.find(id);
  if (key === undefined)
    throw new SealKeyError(
      `the seal key ${id} is missing from the key file, and data of the schema ${schema} may still be encrypted with it: ` +
        `add its line again, call sys/rotate, and remove it when sys/key-status no longer lists it`,
    );
  if (!matchesKeyedHash(keyRing, purpose, fingerprinted(key), fingerprint))
    throw new SealKeyError(
      `the seal key ${id} in the key file is not the one with which data of the schema ${schema} is encrypted, or lacks ` +
        `or has the word "bound" unlike before: restore that line, and give another key a new id`,
    );
}

/** All recorded keys: a handful. */
export const listSealKeys = (sql: Sql, schema: SealedSchema): Promise<RecordedKey[]> =>
  sql.query<RecordedKey>(`select id, fingerprint, used_at as "usedAt" from ${schema}.seal_keys order by id`);

/** Whether a process has reported another key than this one since so many seconds before a time. */
export async function isOtherKeyUsed(
  sql: Sql,
  schema: SealedSchema,
  keyId: string,
  { seconds, before }: { seconds: number; before: Date | undefined },
): Promise<boolean> {
  const [row] = await sql.query<{ used: boolean }>(
    `select exists (select from ${schema}.seal_keys
       where id <> $1 and used_at > coalesce($2::timestamptz, now()) - make_interval(secs => $3)) as used`,
    [keyId, before ?? null, seconds],
  );
  return row?.used === true;
}

/** Forgets all keys but one: nothing is encrypted with them any more. */
export async function forgetOtherKeys(sql: Sql, schema: SealedSchema, keyId: string): Promise<void> {
  await sql.query(`delete from ${schema}.seal_keys where id <> $1`, [keyId]);
}
