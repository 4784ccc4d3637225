import express from 'express';
import { observeCalls } from '../../simulation/observe-calls.ts';
import type { SimulatedStore, StoreContext, StoredSecret } from '../simulated-store.ts';
import { changeByHand } from './change-by-hand.ts';
import { AccessTokens } from './credentials/access-tokens.ts';
import { ServiceAccount } from './credentials/service-account.ts';
import { federationRoutes } from './endpoint/federation-endpoint.ts';
import { type CloudCContext, secretsRoutes } from './endpoint/secrets-endpoint.ts';
import { tokenRoutes } from './endpoint/token-endpoint.ts';
import { regionOf } from './region-of.ts';
import { EncryptionKeys } from './store/encryption-keys.ts';
import { Projects } from './store/projects.ts';
import { RateLimits } from './store/rate-limits.ts';
import { latestVersion, type Secret } from './store/secret.ts';
import { type SecretRecord, SecretStore } from './store/secret-store.ts';

const NAME = 'cloudC-sm';
const DEFAULT_PROJECT = 'sandbox-project';

export interface CloudCOptions {
  /** Projects in addition to the one of the service account, which may use all of them. */
  projects?: string[];
  /** Projects in which the API is not enabled. */
  disabledProjects?: string[];
  /** Enforces the provider's quotas on writes. Default false. */
  enforceQuotas?: boolean;
  /** Lifetime of the tokens of the token endpoint. Default 3600. */
  tokenSeconds?: number;
}

export interface CloudC extends SimulatedStore {
  /** `credentials` is the content of a key file, created when it is first read. */
  readonly credentials: Readonly<{ credentials: string; projectId: string }>;
  /** Disables an encryption key, by its full name. */
  disableKey(name: string): void;
}

/** Simulates the secret manager of cloudC over its REST protocol, and its token endpoint for service accounts. */
export function simulateCloudC(
  { seed, now, persist, federation }: StoreContext,
  options: CloudCOptions = {},
): CloudC {
  const account = new ServiceAccount(seed, DEFAULT_PROJECT);
  const store = new SecretStore(persist, now);
  const calls = observeCalls(NAME, now);
  const limits = new RateLimits(options.enforceQuotas ?? false);
  const keys = new EncryptionKeys();
  const context: CloudCContext = {
    calls: calls.context,
    tokens: new AccessTokens(account, seed, options.tokenSeconds ?? 3600),
    store,
    projects: new Projects([DEFAULT_PROJECT, ...(options.projects ?? [])], options.disabledProjects ?? []),
    limits,
    keys,
    federation,
  };
  const rootRoutes = secretsRoutes(context);
  return {
    ...calls.members,
    path: '/cloudc',
    routes: express.Router().use(federationRoutes(context), rootRoutes, tokenRoutes(context)),
    rootRoutes,
    credentials: credentialsOf(account),
    disableKey: (name) => keys.disable(name),
    secrets: () => [...store.all()].map(storedSecret),
    changeByHand: (change) => changeByHand(store, change, now()),
    reset: () => {
      for (const content of [store, calls, limits, keys]) content.clear();
      persist({ cleared: true });
    },
    replay: (record) => ('cleared' in record ? store.clear() : store.replay(record as SecretRecord)),
    snapshot: () => store.snapshot(),
  };
}

/** The key is only derived when it is needed. */
const credentialsOf = (account: ServiceAccount): CloudC['credentials'] => ({
  get credentials() {
    return account.keyFile();
  },
  projectId: account.project,
});

function storedSecret(secret: Secret): StoredSecret {
  const data = latestVersion(secret)?.data;
  return {
    name: secret.id,
    region: regionOf(secret),
    value: data === undefined ? undefined : Buffer.from(data, 'base64').toString(),
    tags: secret.labels,
    version_count: secret.versions.size,
    deleted_at: null,
    updated_at: new Date(secret.changedAtMs).toISOString(),
  };
}
