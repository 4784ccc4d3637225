import type { Json } from '@secrets/domain';
import { z } from 'zod';
import { audiencesOf } from '../claims/audiences.ts';
import { provenValues } from '../claims/bound-checks.ts';
import { claimAt } from '../claims/claim-at.ts';
import type { VerifiedJwt } from '../claims/verify-jwt.ts';
import type { JwtConfig } from '../config/config-settings.ts';
import type { JwtRole } from '../roles/role-fields.ts';

/** The stored facts of a login, which a renewal checks against the current role and configuration. */
export const LoginSource = z.object({
  /** Audiences of the token that the role accepted. */
  audiences: z.array(z.string()),
  /** The values of the claims that the role bound at the login, as the JWT had them. */
  bound: z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]))),
  /** Where the keys were from; empty if the configuration contained them. */
  directory: z.string(),
  issuer: z.string().nullable(),
  /** The thumbprint of the key that signed the token, if the configuration contained it. */
  key: z.string().optional(),
  role: z.string(),
  /** Only if the role bound it. */
  sub: z.string().optional(),
});

/** The place that the keys of a configuration are from. */
export const directoryOf = ({ oidc_discovery_url, jwks_url }: JwtConfig): string =>
  oidc_discovery_url || jwks_url;

/** Returns the facts of a login to store, with the names in the order in which they are hashed (`canonicalJson`). */
export function loginSource(
  { config, role, roleName }: { config: JwtConfig; role: JwtRole; roleName: string },
  { claims, thumbprint }: Pick<VerifiedJwt, 'claims' | 'thumbprint'>,
): Json {
  const bound = Object.keys(role.bound_claims).toSorted();
  const accepted = audiencesOf(config, role);
  return {
    audiences: [claims.aud].flat().filter((one): one is string => accepted.includes(one as string)),
    bound: Object.fromEntries(bound.map((name) => [name, provenValues(role, name, claimAt(claims, name))])),
    directory: directoryOf(config),
    issuer: typeof claims.iss === 'string' ? claims.iss : null,
    ...(thumbprint === undefined ? {} : { key: thumbprint }),
    role: roleName,
    ...(role.bound_subject === '' ? {} : { sub: role.bound_subject }),
  };
}
