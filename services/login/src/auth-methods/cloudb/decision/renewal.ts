import type { RoleSettings } from '../roles/role-settings.ts';
import { type ProvenPlace, placeBoundChecks } from './place-bounds.ts';
import { type Principal, principalChecks } from './principal-checks.ts';
import { bindsPlace } from './role-bounds.ts';

/** What a login proved. */
export interface Proof extends Principal {
  /** Where the principal ran; absent if the role did not bind it. */
  place?: ProvenPlace | undefined;
}

/**
 * Why a token is not renewed: the role was deleted, or no longer admits what the login proved. Undefined if it is
 * (docs/conventions.md#37-issued-tokens).
 */
export function renewalDenialReason(
  role: RoleSettings | undefined,
  proof: Proof,
  settings: { requirePrincipalBinding: boolean },
): string | undefined {
  if (role === undefined) return 'the role of this login no longer exists';
  const checks = principalChecks(role, proof, settings);
  if (proof.place !== undefined) checks.push(...placeBoundChecks(role, proof.place));
  const failed = checks.find(({ passed }) => !passed);
  if (failed !== undefined) return failed.reason;
  if (proof.place === undefined && bindsPlace(role))
    return 'the role now binds what only a new login can prove';
  return undefined;
}
