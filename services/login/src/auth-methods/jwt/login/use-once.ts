import { createHash } from 'node:crypto';
import { Problem } from '@secrets/domain';
import type { Claims } from '../claims/claim-at.ts';
import type { JwtContext, ReadyJwtTarget } from '../jwt-context.ts';
import { recordUse } from '../queries/used-jwts.ts';

/** The maximum leeway of a role: a record must outlive its token, whatever the role becomes. */
const maxLeewaySeconds = 3_600;
const latest = Date.UTC(9999, 11, 31);

/** The ID of a token, by the first of these claims that is a text. */
export const tokenIdOf = (claims: Claims): string | undefined =>
  [claims.jti, claims.uti].find((id): id is string => typeof id === 'string' && id !== '');

/**
 * Records the use of a token if its role has `jwt_once`. Throws `forbidden` if the token has logged in before, or has no ID. A
 * login that fails later, or a process that dies, has used the token.
 */
export async function useOnce(
  { db, log }: JwtContext,
  { mountId, role, roleName }: ReadyJwtTarget,
  claims: Claims,
): Promise<void> {
  if (!role.jwt_once) return;
  const id = tokenIdOf(claims);
  if (id === undefined)
    throw new Problem('forbidden', 'the token has neither jti nor uti, and the role has jwt_once');
  const hash = createHash('sha256')
    .update(JSON.stringify([claims.iss, id]))
    .digest();
  const expiresAt = new Date(Math.min(((claims.exp as number) + maxLeewaySeconds) * 1_000, latest));
  if (await recordUse(db, mountId, hash, expiresAt)) return;
  log.warn({ mountId, role: roleName, hash: hash.toString('hex') }, 'a JWT was used again');
  throw new Problem('forbidden', 'the token has logged in before, and the role has jwt_once');
}
