import { parseResponse } from '@secrets/sync-worker';
import type { CodehostApi } from './codehost-api.ts';
import { Repositories } from './schema.ts';
import { type Access, requireStatus, type ScopeResponse, secretsOf } from './secret-scope.ts';
import type { SecretsLocation } from './secrets-location.ts';

/** The calls that only secrets of an organization have. Lists are followed to their end. */
export class OrganizationApi {
  readonly #api: CodehostApi;
  readonly #place: SecretsLocation;

  constructor(api: CodehostApi, place: SecretsLocation) {
    this.#api = api;
    this.#place = place;
  }

  /** For messages. */
  get label(): string {
    return this.#place.label;
  }

  async repositories(signal: AbortSignal): Promise<Repositories> {
    const operation = 'listRepositories';
    const found = await this.#api.call(operation, signal, (octokit, options) =>
      octokit.paginate(`GET ${this.#place.path}/repos`, { per_page: 100, ...options }),
    );
    return parseResponse(operation, Repositories, found);
  }

  async selectedRepositories(secret_name: string, signal: AbortSignal): Promise<Repositories> {
    const operation = 'listSelectedReposForOrgSecret';
    const found = await this.#api.call(operation, signal, (octokit, options) =>
      octokit.paginate(`GET ${this.#selected}`, { secret_name, per_page: 100, ...options }),
    );
    return parseResponse(operation, Repositories, found);
  }

  async selectRepositories(secret_name: string, ids: number[], signal: AbortSignal): Promise<ScopeResponse> {
    const operation = 'setSelectedReposForOrgSecret';
    const response = (await this.#api.call(operation, signal, (octokit, options) =>
      octokit.request(`PUT ${this.#selected}`, { secret_name, selected_repository_ids: ids, ...options }),
    )) as ScopeResponse;
    requireStatus(operation, response, 204);
    return response;
  }

  /** Changes who sees a secret, and keeps its value. The API's description demands a value, the API does not. */
  async changeAccess(secret_name: string, access: Access, signal: AbortSignal): Promise<ScopeResponse> {
    const operation = 'createOrUpdateOrgSecret';
    const response = (await this.#api.call(operation, signal, (octokit, options) =>
      octokit.request(`PUT ${secretsOf(this.#place)}/{secret_name}`, { secret_name, ...access, ...options }),
    )) as ScopeResponse;
    requireStatus(operation, response, 201, 204);
    return response;
  }

  get #selected(): string {
    return `${secretsOf(this.#place)}/{secret_name}/repositories`;
  }
}
