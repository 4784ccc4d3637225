import type { Sql } from '@secrets/db';

/**
 * Records that a JWT has logged in at a mount. Returns false if it had before, or if the mount was disabled. Of several logins at
 * the same time, one gets true.
 */
export async function recordUse(sql: Sql, mountId: string, hash: Buffer, expiresAt: Date): Promise<boolean> {
  const recorded = await sql.query(
    `insert into login.used_jwts (mount_id, hash, expires_at)
     select id, $2, $3 from login.auth_mounts where id = $1
     on conflict (mount_id, hash) do nothing returning 1`,
    [mountId, hash, expiresAt],
  );
  return recorded.length > 0;
}

/** Whether a JWT has logged in at a mount. Records nothing. */
export async function wasUsed(sql: Sql, mountId: string, hash: Buffer): Promise<boolean> {
  const text = 'select 1 from login.used_jwts where mount_id = $1 and hash = $2';
  return (await sql.query(text, [mountId, hash])).length > 0;
}

/** Deletes up to `limit` records of JWTs that have expired. Returns their number. */
export async function deletePageOfUsedJwts(sql: Sql, limit: number): Promise<number> {
  const deleted = await sql.query(
    `delete from login.used_jwts where ctid = any(array(
       select ctid from login.used_jwts where expires_at <= now() order by expires_at limit $1 for update skip locked
     )) returning 1`,
    [limit],
  );
  return deleted.length;
}
