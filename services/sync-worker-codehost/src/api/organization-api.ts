import { parseResponse } from '@secrets/sync-worker';
import type { CodehostApi } from './codehost-api.ts';
import { Repositories } from './schema.ts';
import { type Access, requireStatus, type ScopeResponse } from './secret-scope.ts';

/** The calls that only secrets of an organization have. Lists are followed to their end. */
export class OrganizationApi {
  readonly #api: CodehostApi;
  readonly #org: string;

  constructor(api: CodehostApi, org: string) {
    this.#api = api;
    this.#org = org;
  }

  get name(): string {
    return this.#org;
  }

  async repositories(signal: AbortSignal): Promise<Repositories> {
    const operation = 'listRepositories';
    const found = await this.#api.call(operation, signal, (octokit, options) =>
      octokit.paginate(octokit.rest.repos.listForOrg, { org: this.#org, per_page: 100, ...options }),
    );
    return parseResponse(operation, Repositories, found);
  }

  async selectedRepositories(name: string, signal: AbortSignal): Promise<Repositories> {
    const operation = 'listSelectedReposForOrgSecret';
    const found = await this.#api.call(operation, signal, (octokit, options) =>
      octokit.paginate(octokit.rest.actions.listSelectedReposForOrgSecret, {
        ...{ org: this.#org, secret_name: name, per_page: 100, ...options },
      }),
    );
    return parseResponse(operation, Repositories, found);
  }

  async selectRepositories(name: string, ids: number[], signal: AbortSignal): Promise<ScopeResponse> {
    const operation = 'setSelectedReposForOrgSecret';
    const response = await this.#api.call(operation, signal, ({ rest }, options) =>
      rest.actions.setSelectedReposForOrgSecret({
        ...{ org: this.#org, secret_name: name, selected_repository_ids: ids, ...options },
      }),
    );
    requireStatus(operation, response, 204);
    return response;
  }

  /** Changes who sees a secret, and keeps its value. The client's types demand a value, the API does not. */
  async changeAccess(name: string, access: Access, signal: AbortSignal): Promise<ScopeResponse> {
    const operation = 'createOrUpdateOrgSecret';
    const response = await this.#api.call(operation, signal, (octokit, options) =>
      octokit.request('PUT /orgs/{org}/actions/secrets/{secret_name}', {
        ...{ org: this.#org, secret_name: name, ...access, ...options },
      } as never),
    );
    requireStatus(operation, response as ScopeResponse, 201, 204);
    return response as ScopeResponse;
  }
}
