import { Problem } from '@secrets/domain';
import type { JWTVerifyGetKey } from 'jose';
import { thumbprintOf } from '../../verification/keys/static-keys.ts';
import { type AcceptedSignatures, type ClaimRule, verifyToken } from '../../verification/verify-token.ts';
import { algorithms, issuerOf, type JwtConfig } from '../config/config-settings.ts';
import type { JwtRole } from '../roles/role-fields.ts';
import { audiencesOf } from './audiences.ts';
import type { Claims } from './claim-at.ts';
import { leewaysOf } from './time-checks.ts';

/** The signatures that a configuration accepts. */
export const acceptedBy = ({
  jwt_supported_algs,
}: Pick<JwtConfig, 'jwt_supported_algs'>): AcceptedSignatures => ({
  algorithms: jwt_supported_algs.length > 0 ? jwt_supported_algs : algorithms,
  needsKeyId: false,
});

/** The rules about the claims of a token, whatever it proves. The leeways of times, `timeChecks` applies exactly. */
export function jwtRules(config: JwtConfig, role: JwtRole, now: Date): ClaimRule[] {
  const issuer = issuerOf(config);
  const { skew, expiration, notBefore } = leewaysOf(role);
  return [
    {
      check: 'the token is of the issuer',
      claims: ['iss'],
      options: issuer === undefined ? {} : { issuer },
    },
    {
      check:
        role.role_type === 'oidc'
          ? 'the token is for oidc_client_id'
          : 'the token is for one of bound_audiences',
      claims: ['aud'],
      options: { audience: [...audiencesOf(config, role)] },
    },
    {
      check: 'the times of the token are valid',
      claims: ['exp', 'nbf', 'iat'],
      options: {
        requiredClaims: ['exp'],
        clockTolerance: Math.max(skew, expiration, notBefore),
        currentDate: now,
      },
    },
  ];
}

/** Media types of tokens that a directory issues for the identity of a caller: RFC 7519, RFC 7515 and RFC 9068. */
const loginTypes = ['jwt', 'jose', 'at+jwt'];

/**
 * Whether a header has the type of tokens for logins, or none. Others are issued for something else, such as a logout
 * (`logout+jwt`) or a proof of possession (`dpop+jwt`), and are as easy to get.
 */
const hasLoginType = ({ typ }: Header): boolean =>
  typ === undefined ||
  (typeof typ === 'string' && loginTypes.includes(typ.toLowerCase().replace(/^application\//, '')));

interface Header {
  typ?: unknown;
}

/** Throws `forbidden` if a header has the type of tokens for something else than a login. */
export function requireLoginType(header: Header): void {
  if (!hasLoginType(header))
    throw new Problem('forbidden', "the token's typ is not that of a token for logins");
}

/** The content of a token that was verified. */
export interface VerifiedJwt {
  claims: Claims;
  kid: string | undefined;
  /** The hash of the public key that signed the token; undefined unless the configuration contains the key. */
  thumbprint: string | undefined;
}

/**
 * Verifies that a token is signed with one of the keys, and is of the issuer, for the audiences of the role, and valid
 * (docs/conventions/jwt.md#verification). Throws what `verifyToken` throws.
 */
export async function verifyJwt(
  token: string,
  keys: JWTVerifyGetKey,
  { config, role }: { config: JwtConfig; role: JwtRole },
  now: Date,
): Promise<VerifiedJwt> {
  const { payload, protectedHeader, key } = await verifyToken(
    token,
    keys,
    acceptedBy(config),
    jwtRules(config, role, now),
  );
  requireLoginType(protectedHeader);
  return { claims: payload, kid: protectedHeader.kid, thumbprint: thumbprintOf(key as object) };
}
