import { hash, randomBytes } from 'node:crypto';
import type { Sql } from '@secrets/db';

/** Seconds for which the tokens of the skeleton are valid. */
export const tokenSeconds = 3_600;

const statement = `
  insert into login.tokens (hash, accessor, namespace_id, display_name, creation_path, policies, metadata, renewable,
    ttl_seconds, expires_at)
  values ($1, $2, 'root', $3, 'auth/bench/login', $4::text[], $5::jsonb, true, $6::integer,
    now() + $6::integer * interval '1 second')`;

/** Stores a new token with one insert: what no login with revocable tokens can do without. */
export async function insertBareToken(sql: Sql, principal: string, role: string) {
  const token = `sst_${randomBytes(32).toString('base64url')}`;
  const accessor = randomBytes(18).toString('base64url');
  const policies = ['default', 'bench'];
  const metadata = JSON.stringify({ role });
  await sql.query(statement, [
    hash('sha256', token, 'buffer'),
    accessor,
    principal,
    policies,
    metadata,
    tokenSeconds,
  ]);
  return { token, accessor, policies };
}
