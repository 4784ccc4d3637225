import type { RowSource } from '@secrets/access';
import type { z } from 'zod';
import type { RenewalDecision, StoredLogin } from '../../../tokens/renew-token.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { lifetimeRequest } from '../../roles/role-tokens.ts';
import { thumbprints } from '../../verification/keys/static-keys.ts';
import { audiencesOf } from '../claims/audiences.ts';
import { boundChecks } from '../claims/bound-checks.ts';
import { issuerOf } from '../config/config-settings.ts';
import type { JwtTarget } from '../jwt-context.ts';
import { findJwtRenewal } from '../jwt-tables.ts';
import type { JwtRole } from '../roles/role-fields.ts';
import { directoryOf, LoginSource } from './login-source.ts';

type Proof = z.infer<typeof LoginSource>;

/** Checks what a login proved against the current role and configuration (docs/conventions/jwt.md#issued-tokens). */
export async function mayRenewJwt(
  source: RowSource,
  { mountId, source: login, remoteAddress }: StoredLogin,
): Promise<RenewalDecision> {
  const proof = LoginSource.parse(login);
  const { role, config } = await findJwtRenewal(source, mountId, proof.role);
  const reason = renewalDenialReason({ role, config, remoteAddress }, proof);
  if (reason !== undefined) return { allowed: false, reason };
  return { allowed: true, lifetime: role === null ? undefined : lifetimeRequest(role) };
}

interface Renewal extends Pick<JwtTarget, 'config' | 'role'> {
  remoteAddress: string;
}

/** Why a token is not renewed; undefined if it is. */
function renewalDenialReason({ role, config, remoteAddress }: Renewal, proof: Proof): string | undefined {
  if (config === null) return 'this auth mount is not configured';
  if (role === null) return 'the role of this login no longer exists';
  const issuer = issuerOf(config);
  if (directoryOf(config) !== proof.directory || (issuer !== undefined && issuer !== proof.issuer))
    return 'this auth mount no longer accepts the tokens of the issuer of this login';
  if (proof.key !== undefined && !thumbprints(config.jwt_validation_pubkeys).includes(proof.key))
    return 'the key that signed the token of this login is no longer among jwt_validation_pubkeys';
  const accepted = audiencesOf(config, role);
  if (!proof.audiences.some((audience) => accepted.includes(audience)))
    return role.role_type === 'oidc'
      ? 'this login was not for the oidc_client_id of this auth mount'
      : "the audience of this login is no longer among the role's bound_audiences";
  if (hasUnproven(role, proof)) return 'the role now binds what only a new login can prove';
  const checks = [
    ...addressChecks(role, remoteAddress),
    ...boundChecks(role, (name) => provenClaim(proof, name)),
  ];
  return checks.find(({ passed }) => !passed)?.reason;
}

const provenClaim = ({ bound, sub }: Proof, name: string): unknown =>
  Object.hasOwn(bound, name) ? bound[name] : name === 'sub' ? sub : undefined;

const hasUnproven = (role: JwtRole, { bound, sub }: Proof): boolean =>
  Object.keys(role.bound_claims).some((name) => !Object.hasOwn(bound, name)) ||
  (role.bound_subject !== '' && sub === undefined);
