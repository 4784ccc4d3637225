import { malformedResponse } from '@secrets/sync-worker';
import type { CodehostSettings } from '../settings.ts';
import type { CodehostApi } from './codehost-api.ts';

/** A value as it is sent: sealed for a public key. */
export interface SealedValue {
  encrypted_value: string;
  key_id: string;
}

/** Which repositories of the organization see a secret. */
export type Access =
  | { visibility: 'all' | 'private' }
  | { visibility: 'selected'; selected_repository_ids: number[] };

/** A response of the provider's client, as far as it is read. */
export interface ScopeResponse {
  status: number;
  headers: { date?: string | undefined };
  data?: unknown;
}

type Call<Input extends unknown[] = []> = (signal: AbortSignal, ...input: Input) => Promise<ScopeResponse>;

/** What secrets belong to, and the calls of its API. Each is one request, and its failures are `Fault`s. */
export interface SecretScope {
  /** For messages. */
  label: string;
  /** How many secrets it may have (https://docs.github.com/en/actions/reference/security/secrets). */
  maxSecrets: number;
  getPublicKey: Call;
  /** Returns the first secret of the list, and the total. */
  count: Call;
  get: Call<[name: string]>;
  /** Creates or overwrites a secret. One of an organization needs its access as well, or loses it. */
  write: Call<[name: string, content: SealedValue & Partial<Access>]>;
  delete: Call<[name: string]>;
}

/** The scope in which a destination keeps its secrets. */
export function scopeOf(api: CodehostApi, settings: CodehostSettings): SecretScope {
  if (settings.secrets_location === 'organization') return organization(api, settings.organization_name);
  const at = { owner: settings.repository_owner, repo: settings.repository_name };
  return settings.environment_name === ''
    ? repository(api, at)
    : environment(api, { ...at, environment_name: settings.environment_name });
}

interface RepositoryParameters {
  owner: string;
  repo: string;
}

const repository = (api: CodehostApi, at: RepositoryParameters): SecretScope => ({
  label: `the repository ${at.owner}/${at.repo}`,
  maxSecrets: 100,
  getPublicKey: (signal) =>
    api.call('getRepoPublicKey', signal, ({ rest }, options) =>
      rest.actions.getRepoPublicKey({ ...at, ...options }),
    ),
  count: (signal) =>
    api.call('listRepoSecrets', signal, ({ rest }, options) =>
      rest.actions.listRepoSecrets({ ...at, per_page: 1, ...options }),
    ),
  get: (signal, secret_name) =>
    api.call('getRepoSecret', signal, ({ rest }, options) =>
      rest.actions.getRepoSecret({ ...at, secret_name, ...options }),
    ),
  write: (signal, secret_name, content) =>
    api.call('createOrUpdateRepoSecret', signal, ({ rest }, options) =>
      rest.actions.createOrUpdateRepoSecret({ ...at, secret_name, ...content, ...options }),
    ),
  delete: (signal, secret_name) =>
    api.call('deleteRepoSecret', signal, ({ rest }, options) =>
      rest.actions.deleteRepoSecret({ ...at, secret_name, ...options }),
    ),
});

const environment = (
  api: CodehostApi,
  at: RepositoryParameters & { environment_name: string },
): SecretScope => ({
  label: `the environment ${JSON.stringify(at.environment_name)} of ${at.owner}/${at.repo}`,
  maxSecrets: 100,
  getPublicKey: (signal) =>
    api.call('getEnvironmentPublicKey', signal, ({ rest }, options) =>
      rest.actions.getEnvironmentPublicKey({ ...at, ...options }),
    ),
  count: (signal) =>
    api.call('listEnvironmentSecrets', signal, ({ rest }, options) =>
      rest.actions.listEnvironmentSecrets({ ...at, per_page: 1, ...options }),
    ),
  get: (signal, secret_name) =>
    api.call('getEnvironmentSecret', signal, ({ rest }, options) =>
      rest.actions.getEnvironmentSecret({ ...at, secret_name, ...options }),
    ),
  write: (signal, secret_name, content) =>
    api.call('createOrUpdateEnvironmentSecret', signal, ({ rest }, options) =>
      rest.actions.createOrUpdateEnvironmentSecret({ ...at, secret_name, ...content, ...options }),
    ),
  delete: (signal, secret_name) =>
    api.call('deleteEnvironmentSecret', signal, ({ rest }, options) =>
      rest.actions.deleteEnvironmentSecret({ ...at, secret_name, ...options }),
    ),
});

const organization = (api: CodehostApi, org: string): SecretScope => ({
  label: `the organization ${org}`,
  maxSecrets: 1000,
  getPublicKey: (signal) =>
    api.call('getOrgPublicKey', signal, ({ rest }, options) =>
      rest.actions.getOrgPublicKey({ org, ...options }),
    ),
  count: (signal) =>
    api.call('listOrgSecrets', signal, ({ rest }, options) =>
      rest.actions.listOrgSecrets({ org, per_page: 1, ...options }),
    ),
  get: (signal, secret_name) =>
    api.call('getOrgSecret', signal, ({ rest }, options) =>
      rest.actions.getOrgSecret({ org, secret_name, ...options }),
    ),
  write: (signal, secret_name, content) =>
    api.call('createOrUpdateOrgSecret', signal, ({ rest }, options) =>
      rest.actions.createOrUpdateOrgSecret({
        ...{ org, secret_name, ...options },
        ...(content as SealedValue & Access),
      }),
    ),
  delete: (signal, secret_name) =>
    api.call('deleteOrgSecret', signal, ({ rest }, options) =>
      rest.actions.deleteOrgSecret({ org, secret_name, ...options }),
    ),
});

/** Throws `Fault` `unavailable` unless the response has one of these statuses: a proxy may send 200 with anything. */
export function requireStatus(operation: string, { status }: ScopeResponse, ...expected: number[]): void {
  if (!expected.includes(status)) throw malformedResponse(operation, status);
}
