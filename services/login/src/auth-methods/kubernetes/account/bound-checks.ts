import { type Check, check, reasonUnless } from '../../roles/check.ts';
import { matchesGlob } from '../../roles/glob.ts';
import type { KubernetesRole } from '../roles/role-fields.ts';
import type { ServiceAccount } from './service-account.ts';

type Bounds = Pick<KubernetesRole, 'bound_service_account_names' | 'bound_service_account_namespaces'>;

const isAmong = (patterns: readonly string[], name: string): boolean =>
  patterns.some((pattern) => matchesGlob(pattern, name));

/** Checks a service account that a token proves, or a login proved, against the bounds of a role. */
export const boundChecks = (role: Bounds, account: Pick<ServiceAccount, 'name' | 'namespace'>): Check[] => [
  check(
    'the service account is one of bound_service_account_names',
    'kubernetes.io/serviceaccount/name',
    reasonUnless(
      isAmong(role.bound_service_account_names, account.name),
      "the service account is not among the role's bound_service_account_names",
    ),
  ),
  check(
    'its namespace is one of bound_service_account_namespaces',
    'kubernetes.io/namespace',
    reasonUnless(
      isAmong(role.bound_service_account_namespaces, account.namespace),
      "the namespace of the service account is not among the role's bound_service_account_namespaces",
    ),
  ),
];
