import type { TestResponse } from '@secrets/http/testing';
import { later, useStarted } from '../../../../libs/testing/src/use-started.ts';
import { anonymous, type LoginForTest, startLoginForTest } from '../login-for-test.ts';
import { type ClusterForTest, startCluster } from './cluster/cluster-for-test.ts';
import { account, audience, type TokenRequest } from './cluster/service-account-tokens.ts';

/** The service with a cluster, an auth mount `kubernetes` that is configured for it, and a role `web`. */
export interface KubernetesForTest {
  cluster: ClusterForTest;
  service: LoginForTest;
  /** Replaces the configuration, besides the URL of the cluster; by default with a reviewer. */
  configure(body?: object): Promise<TestResponse>;
  writeRole(name: string, body?: object): Promise<TestResponse>;
  /** Logs in with a token, by default through the role `web`. */
  logIn(jwt: string, role?: string): Promise<TestResponse>;
  /** Logs in with the token of a pod. */
  logInAs(request?: TokenRequest, role?: string): Promise<TestResponse>;
  stop(): Promise<void>;
}

/** The fields of a role that every role needs. */
export const needed = {
  bound_service_account_names: account.name,
  bound_service_account_namespaces: account.namespace,
  audience,
} as const;

async function startKubernetes(): Promise<KubernetesForTest> {
  const cluster = await startCluster();
  const service = await startLoginForTest({ egressAllow: [`127.0.0.1/32:${cluster.port}`] });
  const kubernetes: KubernetesForTest = {
    cluster,
    service,
    configure: (body = { token_reviewer_jwt: cluster.reviewerJwt }) =>
      service.call('POST', '/auth/kubernetes/config', { kubernetes_host: cluster.url, ...body }),
    writeRole: (name, body = {}) =>
      service.call('POST', `/auth/kubernetes/role/${name}`, { ...needed, ...body }),
    logIn: (jwt, role = 'web') => service.call('POST', '/auth/kubernetes/login', { role, jwt }, anonymous),
    logInAs: async (request = {}, role = 'web') => kubernetes.logIn(await cluster.issue(request), role),
    stop: async () => {
      await service.stop();
      await cluster.stop();
    },
  };
  await service.call('POST', '/sys/auth/kubernetes', { type: 'kubernetes' });
  await kubernetes.configure();
  await kubernetes.writeRole('web', { token_policies: 'dev', token_ttl: '1h' });
  return kubernetes;
}

/** Starts the service with its cluster for the tests of a file, and stops them after those. */
export function useKubernetes(): {
  kubernetes: KubernetesForTest;
  login: LoginForTest;
  cluster: ClusterForTest;
} {
  const kubernetes = useStarted(startKubernetes, ({ stop }) => stop());
  return { kubernetes, login: later(() => kubernetes.service), cluster: later(() => kubernetes.cluster) };
}
