import { malformedResponse } from '@secrets/sync-worker';
import type { CallOptions, CodehostApi } from './codehost-api.ts';
import type { SecretsLocation } from './secrets-location.ts';

/** A value as it is sent: sealed for a public key. */
export interface SealedValue {
  encrypted_value: string;
  key_id: string;
}

/** Repositories of the organization that see a secret. */
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

/**
 * Repository, environment or organization that secrets belong to, and the calls of its API. Each is one request, and
 * its failures are `Fault`s.
 */
export interface SecretScope {
  place: SecretsLocation;
  /**
   * How many secrets it may have (https://docs.github.com/en/actions/reference/security/secrets,
   * https://docs.github.com/en/codespaces/managing-codespaces-for-your-organization/managing-development-environment-secrets-for-your-repository-or-organization).
   */
  maxSecrets: number;
  getPublicKey: Call;
  /** Returns the first secret of the list, and the total. */
  count: Call;
  /** Returns a page of at most 100 secrets, beginning with page 1. */
  list: Call<[page: number]>;
  get: Call<[name: string]>;
  /** Creates or overwrites a secret. One of an organization needs its access as well, or loses it. */
  write: Call<[name: string, content: SealedValue & Partial<Access>]>;
  delete: Call<[name: string]>;
}

/** The path of a place's secrets. */
export const secretsOf = ({ kind, app, path }: SecretsLocation): string =>
  kind === 'environment' ? `${path}/secrets` : `${path}/${app}/secrets`;

/** The names of the operations in the provider's API, for messages. */
const names = { repository: 'Repo', environment: 'Environment', organization: 'Org' } as const;
const apps = { actions: '', dependabot: 'Dependabot', codespaces: 'Codespaces' } as const;

/** The most that the provider returns at once. */
export const pageSize = 100;

/** The scope in which a destination keeps its secrets. */
export function secretScope(api: CodehostApi, place: SecretsLocation): SecretScope {
  const name = `${names[place.kind]}${apps[place.app]}`;
  const call = (
    operation: string,
    signal: AbortSignal,
    { method, below = '', ...parameters }: { method: string; below?: string; [parameter: string]: unknown },
  ): Promise<ScopeResponse> =>
    api.call(operation, signal, async (octokit, options: CallOptions) => {
      const route = `${method} ${secretsOf(place)}${below}`;
      return (await octokit.request(route, { ...parameters, ...options })) as ScopeResponse;
    });
  const below = '/{secret_name}';
  return {
    place,
    maxSecrets: place.kind === 'organization' && place.app !== 'codespaces' ? 1000 : 100,
    getPublicKey: (signal) => call(`get${name}PublicKey`, signal, { method: 'GET', below: '/public-key' }),
    count: (signal) => call(`list${name}Secrets`, signal, { method: 'GET', per_page: 1 }),
    list: (signal, page) => call(`list${name}Secrets`, signal, { method: 'GET', per_page: pageSize, page }),
    get: (signal, secret_name) => call(`get${name}Secret`, signal, { method: 'GET', below, secret_name }),
    write: (signal, secret_name, content) =>
      call(`createOrUpdate${name}Secret`, signal, { method: 'PUT', below, secret_name, ...content }),
    delete: (signal, secret_name) =>
      call(`delete${name}Secret`, signal, { method: 'DELETE', below, secret_name }),
  };
}

/** Throws `Fault` `unavailable` unless the response has one of these statuses: a proxy may send 200 with anything. */
export function requireStatus(operation: string, { status }: ScopeResponse, ...expected: number[]): void {
  if (!expected.includes(status)) throw malformedResponse(operation, status);
}
