import { createHash } from 'node:crypto';
import { Problem } from '@secrets/domain';
import type { Claims } from '../claims/claim-at.ts';
import type { JwtContext, ReadyJwtTarget } from '../jwt-context.ts';
import { recordUse } from '../queries/used-jwts.ts';
import type { JwtRole } from '../roles/role-fields.ts';

/** The maximum leeway of a role: a record must outlive its token, whatever the role becomes. */
const maxLeewaySeconds = 3_600;
const latest = Date.UTC(9999, 11, 31);

/** The ID of a token, by the first of these claims that is a text. */
export const tokenIdOf = (claims: Claims): string | undefined =>
  [claims.jti, claims.uti].find((id): id is string => typeof id === 'string' && id !== '');

/** A use of a token, as it is recorded. */
interface Use {
  hash: Buffer;
  expiresAt: Date;
}

/** The use of a token by a role with `jwt_once`; undefined without that. Throws `forbidden` if the token has no ID. */
export function useOf({ jwt_once }: Pick<JwtRole, 'jwt_once'>, claims: Claims): Use | undefined {
  if (!jwt_once) return undefined;
  const id = tokenIdOf(claims);
  if (id === undefined)
    throw new Problem('forbidden', 'the token has neither jti nor uti, and the role has jwt_once');
  return {
    hash: createHash('sha256')
      .update(JSON.stringify([claims.iss, id]))
      .digest(),
    expiresAt: new Date(Math.min(((claims.exp as number) + maxLeewaySeconds) * 1_000, latest)),
  };
}

export const usedBefore = 'the token has logged in before, and the role has jwt_once';

/**
 * Records the use of a token if its role has `jwt_once`. Throws `forbidden` if the token has logged in before, or has no ID. A
 * login that fails later, or a process that dies, has used the token.
 */
export async function useOnce(
  { db, log }: JwtContext,
  { mountId, role, roleName }: ReadyJwtTarget,
  claims: Claims,
): Promise<void> {
  const use = useOf(role, claims);
  if (use === undefined || (await recordUse(db, mountId, use.hash, use.expiresAt))) return;
  log.warn({ mountId, role: roleName, hash: use.hash.toString('hex') }, 'a JWT was used again');
  throw new Problem('forbidden', usedBefore);
}
