import type { AuthMethodDeps } from '../auth-method.ts';
import type { LoginTargets } from '../targets/login-targets.ts';
import type { LoginTarget } from '../targets/queries/stored-target.ts';
import type { ClusterKeys } from './cluster/cluster-keys.ts';
import type { Reviewer } from './cluster/reviewer.ts';
import type { KubernetesConfig } from './config/config-settings.ts';
import type { KubernetesRole } from './roles/role-fields.ts';

/** Everything stored that a login depends on. */
export type KubernetesTarget = LoginTarget<KubernetesConfig, KubernetesRole>;

/** A target that has everything. */
export type ReadyKubernetesTarget = KubernetesTarget & {
  config: KubernetesConfig;
  role: KubernetesRole;
  roleName: string;
};

/** The dependencies of the endpoints of this method. */
export interface KubernetesContext extends AuthMethodDeps {
  clusterKeys: ClusterKeys;
  reviewer: Reviewer;
  targets: LoginTargets<KubernetesTarget>;
}
