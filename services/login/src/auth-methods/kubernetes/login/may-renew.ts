import type { RowSource } from '@secrets/access';
import type { z } from 'zod';
import type { RenewalDecision, StoredLogin } from '../../../tokens/renew-token.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { lifetimeRequest } from '../../roles/role-tokens.ts';
import { thumbprints } from '../../verification/keys/static-keys.ts';
import { boundChecks } from '../account/bound-checks.ts';
import { issuerOf } from '../config/config-settings.ts';
import type { KubernetesTarget } from '../kubernetes-context.ts';
import { findKubernetesRenewal } from '../kubernetes-tables.ts';
import { LoginSource } from './login-source.ts';

/** Checks what a login proved against the current role and configuration (docs/conventions/kubernetes.md#issued-tokens). */
export async function mayRenewKubernetes(
  source: RowSource,
  { mountId, source: login, remoteAddress }: StoredLogin,
): Promise<RenewalDecision> {
  const proof = LoginSource.parse(login);
  const { role, config } = await findKubernetesRenewal(source, mountId, proof.role);
  const reason = renewalDenialReason({ role, config, remoteAddress }, proof);
  if (reason !== undefined) return { allowed: false, reason };
  return { allowed: true, lifetime: role === null ? undefined : lifetimeRequest(role) };
}

interface Renewal extends Pick<KubernetesTarget, 'config' | 'role'> {
  remoteAddress: string;
}

/** Why a token is not renewed; undefined if it is. */
function renewalDenialReason(
  { role, config, remoteAddress }: Renewal,
  proof: z.infer<typeof LoginSource>,
): string | undefined {
  if (config === null) return 'this auth mount is not configured';
  if (role === null) return 'the role of this login no longer exists';
  const issuer = issuerOf(config);
  if (config.kubernetes_host !== proof.host || (issuer !== undefined && issuer !== proof.issuer))
    return 'this auth mount no longer accepts the tokens of the cluster of this login';
  if (proof.key !== undefined && !thumbprints(config.pem_keys).includes(proof.key))
    return 'the key that signed the token of this login is no longer among pem_keys';
  if (role.audience !== proof.audience) return "the audience of this login is no longer the role's audience";
  const checks = [...addressChecks(role, remoteAddress), ...boundChecks(role, proof)];
  return checks.find(({ passed }) => !passed)?.reason;
}
