import type { Sql, Tx } from '@secrets/db';
import type { JWK } from 'jose';

/** A key pair as it is stored. */
export interface IdentityKeyRow {
  id: string;
  publicJwk: JWK;
  sealedPrivateKey: Uint8Array;
}

/** The key that signs, and the time of the database, in seconds since the epoch; undefined before the first one exists. */
export async function findSigningKey(
  sql: Sql,
): Promise<{ id: string; sealedPrivateKey: Uint8Array; now: number } | undefined> {
  const text = `select id, sealed_private_key as "sealedPrivateKey", floor(extract(epoch from now()))::bigint as now
                  from login.identity_keys where state = 'current'`;
  return (await sql.query<{ id: string; sealedPrivateKey: Uint8Array; now: number }>(text))[0];
}

/** For how many seconds the key that signs has signed, or the next one been published; undefined before the first ones exist. */
export async function findKeySeconds(sql: Sql, state: 'current' | 'next'): Promise<number | undefined> {
  const text = `select floor(extract(epoch from now() - state_since))::bigint as seconds
                  from login.identity_keys where state = $1 and state <> 'retired'`; // which lets Postgres use the index
  return (await sql.query<{ seconds: number }>(text, [state]))[0]?.seconds;
}

/** The public keys: the one that signs, the one that will, and those whose tokens may still be valid. */
export async function listPublicKeys(sql: Sql): Promise<JWK[]> {
  const rows = await sql.query<{ publicJwk: JWK }>(
    `select public_jwk as "publicJwk" from (
       select * from login.identity_keys where state <> 'retired'
       union all
       select * from login.identity_keys where state = 'retired' and published_until > now()
     ) published order by state_since desc, id`,
  );
  return rows.map(({ publicJwk }) => publicJwk);
}

/** Withdraws the key that signs, and lets the one sign that is published already. Deletes the private part of the former. */
export async function promoteNextKey(tx: Tx, publishedSeconds: number): Promise<void> {
  await tx.query(
    `update login.identity_keys set state = 'retired', sealed_private_key = null, state_since = now(),
       published_until = now() + $1 * interval '1 second' where state = 'current'`,
    [publishedSeconds],
  );
  await tx.query(
    "update login.identity_keys set state = 'current', state_since = now() where state = 'next'",
  );
}

export async function insertNextKey(
  tx: Tx,
  { id, publicJwk, sealedPrivateKey }: IdentityKeyRow,
): Promise<void> {
  await tx.query(
    `insert into login.identity_keys (id, state, public_jwk, sealed_private_key) values ($1, 'next', $2::jsonb, $3)`,
    [id, JSON.stringify(publicJwk), sealedPrivateKey],
  );
}

/** Deletes retired keys that are no longer published. */
export async function deleteExpiredKeys(sql: Sql): Promise<void> {
  await sql.query("delete from login.identity_keys where state = 'retired' and published_until <= now()");
}
