import { guardedDocuments } from '@secrets/egress';
import type { AuthMethod, AuthMethodDeps } from '../auth-method.ts';
import { diagnosisEndpoint } from '../diagnosis/diagnosis-endpoint.ts';
import { cachedTargets } from '../targets/login-targets.ts';
import { TrustingFetches } from '../verification/http/trusting-fetches.ts';
import { ClusterKeys } from './cluster/cluster-keys.ts';
import { Reviewer } from './cluster/reviewer.ts';
import { configEndpoints } from './config/config-endpoints.ts';
import { diagnoseServiceAccount } from './diagnosis/diagnose-service-account.ts';
import type { KubernetesContext } from './kubernetes-context.ts';
import { findKubernetesTarget, kubernetesTables } from './kubernetes-tables.ts';
import { logInWithServiceAccount } from './login/login.ts';
import { KubernetesLoginRequest } from './login/login-request.ts';
import { mayRenewKubernetes } from './login/may-renew.ts';
import { kubernetesRoleEndpoints } from './roles/role-endpoints.ts';

export interface KubernetesOptions {
  /** Addresses that API servers may have, besides public ones: CIDRs with an optional port. */
  egressAllow?: readonly string[] | undefined;
}

/** Login with the token of a Kubernetes service account (docs/conventions/kubernetes.md). */
export function createKubernetes(deps: AuthMethodDeps, { egressAllow = [] }: KubernetesOptions): AuthMethod {
  const fetches = new TrustingFetches(guardedDocuments({ allow: egressAllow }));
  const context: KubernetesContext = {
    ...deps,
    clusterKeys: new ClusterKeys(fetches),
    reviewer: new Reviewer(fetches),
    targets: cachedTargets(deps, (...of) => findKubernetesTarget(deps, ...of)),
  };
  return {
    type: kubernetesTables.type,
    loginBody: KubernetesLoginRequest,
    login: (at, body: KubernetesLoginRequest) => logInWithServiceAccount(context, at, body),
    mayRenew: (login) => mayRenewKubernetes(context, login),
    endpoints: [
      ...kubernetesRoleEndpoints(context),
      ...configEndpoints(context),
      diagnosisEndpoint(KubernetesLoginRequest, async (at, request) => {
        const target = await context.targets(at, request.role);
        return target && diagnoseServiceAccount(context, target, request);
      }),
    ],
  };
}
