import { invalid, Problem } from '@secrets/domain';
import { type IssuedToken, issueToken } from '../../../tokens/issue-token.ts';
import { planLifetime } from '../../../tokens/token-lifetime.ts';
import { type LoginEndpoint, NoSuchMount } from '../../auth-method.ts';
import { addressChecks } from '../../roles/address-checks.ts';
import { requirePassed } from '../../roles/check.ts';
import { lifetimeRequest, tokenOfRole } from '../../roles/role-tokens.ts';
import { boundChecks } from '../account/bound-checks.ts';
import type { ServiceAccount } from '../account/service-account.ts';
import type { KubernetesContext, ReadyKubernetesTarget } from '../kubernetes-context.ts';
import type { KubernetesLoginRequest } from './login-request.ts';
import { loginSource } from './login-source.ts';
import { type Proven, prove } from './prove.ts';

/** Logs a pod in with the token of its service account: verify, compare with the role, issue. */
export async function logInWithServiceAccount(
  context: KubernetesContext,
  at: LoginEndpoint,
  { role: name, jwt }: KubernetesLoginRequest,
): Promise<IssuedToken> {
  const target = await requireTarget(context, at, name);
  const { mountId, role, limits } = target;
  requirePassed(addressChecks(role, at.remoteAddress));
  const now = new Date(context.db.now());
  const proven = await admitted(context, at, target, jwt, now);
  const { account, claims } = proven;
  return issueToken(context, {
    ...tokenOfRole(role, at, {
      principal: `${account.namespace}-${account.name}`,
      metadata: metadataOf(account, target.roleName),
    }),
    lifetime: planLifetime(lifetimeRequest(role), now, { limits }),
    owner: {
      mountId,
      alias: aliasOf(target, account),
      groups: [],
      issuedAt: claims.iat as number | undefined,
      source: loginSource(target, proven),
    },
  });
}

async function requireTarget(
  context: KubernetesContext,
  at: LoginEndpoint,
  name: string,
): Promise<ReadyKubernetesTarget> {
  const target = await context.targets(at, name);
  if (target === undefined) throw new NoSuchMount();
  const { config, role, roleName } = target;
  if (config === null) throw invalid('this auth mount is not configured');
  if (role === null || roleName === null) throw invalid('role: does not exist');
  return { ...target, config, role, roleName };
}

/** The service account of a token that the role admits. Throws the reason otherwise, and logs it without claims. */
async function admitted(
  context: KubernetesContext,
  at: LoginEndpoint,
  target: ReadyKubernetesTarget,
  jwt: string,
  now: Date,
): Promise<Proven> {
  try {
    const proven = await prove(context, target, jwt, now);
    requirePassed(boundChecks(target.role, proven.account));
    return proven;
  } catch (error) {
    if (error instanceof Problem)
      context.log.info({ mount: at.mount, refusal: error.message }, 'login refused');
    throw error;
  }
}

/** Names the entity. No name contains a slash. */
export const aliasOf = (
  { role }: Pick<ReadyKubernetesTarget, 'role'>,
  { namespace, name, uid }: ServiceAccount,
): string => (role.alias_name_source === 'serviceaccount_name' ? `${namespace}/${name}` : uid);

/** The metadata that the original method has (hashicorp/vault-plugin-auth-kubernetes, path_login.go). */
const metadataOf = (account: ServiceAccount, role: string): Record<string, string> => ({
  role,
  service_account_name: account.name,
  service_account_namespace: account.namespace,
  service_account_secret_name: account.secretName,
  service_account_uid: account.uid,
});
