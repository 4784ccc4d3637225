import type { JWTPayload, JWTVerifyGetKey, JWTVerifyResult } from 'jose';
import { refusedClaim } from '../../verification/token-problem.ts';
import {
  type ClaimRule,
  decodeUnverified,
  requireRule,
  verifyToken,
  verifyTokenSignature,
} from '../../verification/verify-token.ts';
import type { ConfigSettings } from '../config/config-settings.ts';
import { issuersOf } from './environments.ts';

const leewaySeconds = 60;
const accepted = { algorithms: ['RS256'], needsKeyId: true };

type Expected = Pick<ConfigSettings, 'environment' | 'tenant_id' | 'resource'>;

/** The rules about the claims of a token, of which `tid` has another one besides. */
export function claimRules(config: Expected, now: Date): ClaimRule[] {
  const bare = config.resource.replace(/\/$/, '');
  return [
    {
      check: 'the directory of the tenant issued the token',
      claims: ['iss'],
      options: { issuer: issuersOf(config.environment, config.tenant_id) },
    },
    {
      check: 'the token is for the configured resource',
      claims: ['aud'],
      options: { audience: [bare, `${bare}/`] },
    },
    {
      check: 'the token is valid now',
      claims: ['exp', 'nbf'],
      options: { requiredClaims: ['exp'], clockTolerance: leewaySeconds, currentDate: now },
    },
    { check: 'the token is of the tenant', claims: ['tid'], options: { requiredClaims: ['tid'] } },
    { check: 'the token names a principal', claims: ['oid'], options: { requiredClaims: ['oid'] } },
  ];
}

/**
 * Verifies that the tenant's directory signed a token (with RS256) for the configured resource and that it is valid now
 * (docs/conventions/cloudb.md#verification-of-the-jwt). Returns its header and payload. Throws what `verifyToken` throws.
 */
export async function verifyDirectoryToken(
  token: string,
  keys: JWTVerifyGetKey,
  config: Expected,
  now: Date,
): Promise<JWTVerifyResult> {
  const verified = await verifyToken(token, keys, accepted, claimRules(config, now));
  requireTenant(verified.payload, config);
  return verified;
}

/** Verifies only that the directory signed a token, in the same way. Returns the key. */
export const verifySignature = (token: string, keys: JWTVerifyGetKey): Promise<object> =>
  verifyTokenSignature(token, keys, accepted);

/** The claims of a token that is not verified. Throws `invalid` if it is malformed. */
export const unverifiedPayload = (token: string): JWTPayload => decodeUnverified(token, accepted);

/** Checks the claims that a rule is about, whatever the others are. Throws `forbidden` with the claim that failed. */
export function requireClaims(payload: JWTPayload, rule: ClaimRule, config: Expected): void {
  requireRule(payload, rule);
  if (rule.claims.includes('tid')) requireTenant(payload, config);
}

function requireTenant({ tid }: JWTPayload, { tenant_id }: Expected): void {
  if (typeof tid !== 'string' || tid.toLowerCase() !== tenant_id.toLowerCase()) throw refusedClaim('tid');
}
