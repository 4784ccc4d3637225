import { addressChecks } from '../../roles/address-checks.ts';
import type { ConfigSettings } from '../config/config-settings.ts';
import { isSameName } from '../resource-names/same-name.ts';
import type { RoleSettings } from '../roles/role-settings.ts';
import { type ProvenPlace, placeBoundChecks } from './place-bounds.ts';
import { type Principal, principalChecks } from './principal-checks.ts';
import { bindsPlace } from './role-bounds.ts';

/** The tokens that a mount accepts. */
type Accepted = Pick<ConfigSettings, 'tenant_id' | 'resource' | 'environment'>;

/** The facts that a login proved. */
export interface Proof extends Principal {
  /** What the mount accepted; absent for a login from before this was stored. */
  accepted?: Accepted | undefined;
  /** Where the principal ran; absent if the role did not bind it. */
  place?: ProvenPlace | undefined;
}

/** The current configuration that a renewal is checked against. */
export interface Renewal {
  role: RoleSettings | null;
  config: (Accepted & { require_principal_binding?: boolean }) | null;
  remoteAddress: string;
}

/**
 * Why a token is not renewed: the role or the configuration was deleted, or no longer admits what the login proved.
 * Undefined if it is (docs/conventions/cloudb.md#issued-tokens).
 */
export function renewalDenialReason(
  { role, config, remoteAddress }: Renewal,
  proof: Proof,
): string | undefined {
  if (config === null) return 'this auth mount is not configured';
  if (role === null) return 'the role of this login no longer exists';
  if (proof.accepted !== undefined && !isSame(proof.accepted, config))
    return 'this auth mount no longer accepts the tokens of the tenant, resource or environment of this login';
  const requirePrincipalBinding = config.require_principal_binding === true;
  const checks = addressChecks(role, remoteAddress);
  checks.push(...principalChecks(role, proof, { requirePrincipalBinding }));
  if (proof.place !== undefined) checks.push(...placeBoundChecks(role, proof.place));
  const failed = checks.find(({ passed }) => !passed);
  if (failed !== undefined) return failed.reason;
  if (proof.place === undefined && bindsPlace(role))
    return 'the role now binds what only a new login can prove';
  return undefined;
}

const isSame = (one: Accepted, other: Accepted): boolean =>
  isSameName(one.tenant_id, other.tenant_id) &&
  bare(one.resource) === bare(other.resource) &&
  one.environment === other.environment;

const bare = (resource: string): string => resource.replace(/\/$/, '');
