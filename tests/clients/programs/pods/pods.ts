import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ClusterForTest,
  startCluster,
} from '../../../../services/login/tests/kubernetes/cluster/cluster-for-test.ts';
import {
  audience,
  serverAudience,
} from '../../../../services/login/tests/kubernetes/cluster/service-account-tokens.ts';
import { expectStatus } from '../../../harness/http.ts';
import { type Installation, startInstallation } from '../../../harness/installation.ts';
import { type CountingProxy, startCountingProxy } from '../counting-proxy.ts';

/** A pod of a cluster, whose service account may log in with one method, and its secrets. */
export interface Pods {
  /** The environment of a client: `VAULT_ADDR`, `NAMESPACE` of `MOUNT`, `ROLE`, `METHOD`, `AUDIENCE` and `KUBECONFIG`. */
  env: NodeJS.ProcessEnv;
  /** The verbs of the calls of the client. */
  verbs: readonly string[];
  /** Issues a token of the service account. */
  issueToken(): Promise<string>;
  /** Changes the secret that the client reads. */
  setUser(user: string): Promise<unknown>;
  /** Revokes all tokens of logins. */
  revokeTokens(): Promise<void>;
  /** The time at which a token expires; undefined if it has. */
  expiryOf(token: string): Promise<string | undefined>;
  /** Kills the service and starts it again. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

const policyFor = (mount: string) => `
  path "sys/events/subscribe/kv*" { capabilities = ["read"] }
  path "${mount}/data/shop/*" { capabilities = ["read", "list", "subscribe"] subscribe_event_types = ["*"] }
  path "${mount}/data/team/*" { capabilities = ["create", "read", "update", "delete"] }
  path "${mount}/metadata/*" { capabilities = ["read", "list"] }
  path "${mount}/metadata/team/*" { capabilities = ["create", "read", "update", "delete", "list"] }
`;

/** The service, and a cluster with a service account that may log in with the methods `jwt` and `kubernetes`. */
export interface PodHost {
  /** Prepares a mount of this name, whose role has the same name. */
  pods(method: string, mount: string, options?: PodOptions): Promise<Pods>;
  stop(): Promise<void>;
}

interface PodOptions {
  /** Times of the tokens. A short one is of those that can be renewed twice or so. */
  lifetime?: object;
  /** A namespace of its own, with auth mounts and secrets. */
  namespace?: string;
}

export async function startPodHost(): Promise<PodHost> {
  const cluster = await startCluster();
  cluster.publish(true);
  const service = await startInstallation({ LOGIN_EGRESS_ALLOW: `127.0.0.1/32:${cluster.port}` });
  await enableMethods(writer(service), cluster);
  return {
    pods: (method, mount, options = {}) => preparePods({ cluster, service }, { method, mount, ...options }),
    stop: async () => {
      await service.stop();
      await cluster.stop();
    },
  };
}

async function enableMethods(write: Write, cluster: ClusterForTest): Promise<void> {
  await write('sys/auth/kubernetes', { type: 'kubernetes' });
  await write('auth/kubernetes/config', {
    kubernetes_host: cluster.url,
    token_reviewer_jwt: cluster.reviewerJwt,
  });
  await write('sys/auth/jwt', { type: 'jwt' });
  await write('auth/jwt/config', { jwks_url: `${cluster.url}/openid/v1/jwks`, bound_issuer: serverAudience });
}

type Write = (path: string, body: object) => Promise<unknown>;

/** @param prefix a namespace with a slash at its end, or nothing */
const writer =
  (service: Installation, prefix = ''): Write =>
  async (path, body) => {
    const answer = await service.api('POST', `${prefix}${path}`, body);
    return expectStatus(answer, answer.status === 204 ? 204 : 200);
  };

interface Wanted extends PodOptions {
  method: string;
  mount: string;
}

const boundOf: Readonly<Record<string, object>> = {
  kubernetes: {
    bound_service_account_names: 'web',
    bound_service_account_namespaces: 'shop',
    audience,
  },
  jwt: {
    role_type: 'jwt',
    user_claim: 'sub',
    bound_audiences: audience,
    bound_subject: 'system:serviceaccount:shop:web',
  },
};

async function preparePods(
  { cluster, service }: { cluster: ClusterForTest; service: Installation },
  { method, mount, lifetime, namespace }: Wanted,
): Promise<Pods> {
  const prefix = namespace === undefined ? '' : `${namespace}/`;
  const write = writer(service, prefix);
  if (namespace !== undefined) {
    await writer(service)(`sys/namespaces/${namespace}`, {});
    await enableMethods(write, cluster);
  }
  await write(`sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  await write(`sys/policies/acl/${mount}`, { policy: policyFor(mount) });
  await write(`auth/${method}/role/${mount}`, { ...boundOf[method], policies: [mount], ...lifetime });
  const proxy: CountingProxy = await startCountingProxy(service.url);
  const home = mkdtempSync(join(tmpdir(), 'pods-'));
  writeFileSync(join(home, 'kubeconfig'), kubeconfig(cluster));
  const names = { NAMESPACE: namespace ?? '', MOUNT: mount, ROLE: mount, METHOD: method, AUDIENCE: audience };
  return {
    env: {
      PATH: process.env.PATH,
      HOME: home,
      KUBECONFIG: join(home, 'kubeconfig'),
      VAULT_ADDR: proxy.url,
      ...names,
    },
    verbs: proxy.verbs,
    issueToken: () => cluster.issue(),
    setUser: (user) => write(`${mount}/data/shop/db`, { data: { user } }),
    revokeTokens: () => revokeTokensOf(service, prefix, `auth/${method}/login`),
    expiryOf: async (token) => {
      const { body } = await service.api('POST', 'auth/token/lookup', { token });
      return body?.data?.expire_time;
    },
    restart: () => service.crash(),
    stop: async () => {
      await proxy.stop();
      rmSync(home, { recursive: true });
    },
  };
}

async function revokeTokensOf({ api }: Installation, prefix: string, path: string): Promise<void> {
  const { body } = await api('LIST', `${prefix}auth/token/accessors`);
  for (const accessor of body.data.keys as string[]) {
    const { body: found } = await api('POST', `${prefix}auth/token/lookup-accessor`, { accessor });
    if (found?.data?.path === path) await api('POST', `${prefix}auth/token/revoke-accessor`, { accessor });
  }
}

const kubeconfig = ({ url }: ClusterForTest): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url } }],
    users: [{ name: 'controller', user: {} }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'controller' } }],
    'current-context': 'test',
  });
