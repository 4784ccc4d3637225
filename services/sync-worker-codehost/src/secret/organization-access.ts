import type { CodehostSettings } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { hasCode } from '@secrets/sync-worker';
import type { OrganizationApi } from '../api/organization-api.ts';
import type { FoundSecret } from '../api/schema.ts';
import type { Access, ScopeResponse } from '../api/secret-scope.ts';

/** Who sees a secret, as the settings say it: repositories by their names. */
export interface AccessSettings {
  visibility: Exclude<CodehostSettings['organization_visibility'], ''>;
  repositories: string[];
}

const validMs = 600_000;
const accesses = ['all', 'private', 'selected'] as const;

/** Who sees the secrets of an organization's destination. The IDs of repositories are kept for ten minutes. */
export class OrganizationAccess {
  readonly #api: OrganizationApi;
  readonly #settings: CodehostSettings;
  #held: { ids: number[]; untilMs: number } | undefined;
  #demandsValue = false;

  constructor(api: OrganizationApi, settings: CodehostSettings) {
    this.#api = api;
    this.#settings = settings;
  }

  get settings(): AccessSettings {
    const { organization_visibility: visibility, selected_repository_names: repositories } = this.#settings;
    // The provider requires one. Its own command-line client writes secrets with `private` by default.
    return { visibility: visibility || 'private', repositories };
  }

  /** The access to send: with `selected`, always the full list, because a list that is omitted is cleared. */
  async wanted(signal: AbortSignal): Promise<Access> {
    const { visibility } = this.settings;
    if (visibility !== 'selected') return { visibility };
    return { visibility, selected_repository_ids: await this.#repositoryIds(signal) };
  }

  /** Whether the secret that was found has another access than the settings say. */
  async differsFrom(name: string, { visibility }: FoundSecret, signal: AbortSignal): Promise<boolean> {
    if (visibility !== this.settings.visibility) return true;
    if (visibility !== 'selected') return false;
    const present = await this.#api.selectedRepositories(name, signal);
    const wanted = new Set(await this.#repositoryIds(signal));
    return present.length !== wanted.size || present.some(({ id }) => !wanted.has(id));
  }

  /**
   * Changes who sees a secret that has the visibility `present` now, without its value. Returns undefined if that is
   * not possible: the secret is gone, or the server demands the value, as its description says, and is then not asked
   * again.
   */
  async change(
    name: string,
    present: string | undefined,
    signal: AbortSignal,
  ): Promise<ScopeResponse | undefined> {
    const access = await this.wanted(signal);
    const isListAlone = present === 'selected' && access.visibility === 'selected';
    if (!isListAlone && this.#demandsValue) return undefined;
    try {
      if (isListAlone)
        return await this.#api.selectRepositories(name, access.selected_repository_ids, signal);
      return await this.#api.changeAccess(name, access, signal);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'rejected') throw error;
      if (!isListAlone) this.#demandsValue = !hasCode(error, 'NotFound');
      return undefined;
    }
  }

  /** The fault of a secret that has another access after a write. */
  notTaken({ visibility }: FoundSecret): Fault {
    const { visibility: wanted } = this.settings;
    const shown = accesses.find((one) => one === visibility && one !== wanted);
    const instead =
      shown === undefined ? 'for other repositories than selected' : `with the visibility ${shown}`;
    return new Fault(
      'rejected',
      `${this.#api.label} has stored the secret ${instead}, although ${wanted} was requested; look at who may see it there, and at the plan of the account`,
      { mayPass: true },
    );
  }

  /** Forgets the IDs after the provider has refused them: a repository that was created again has another one. */
  forgetIds(): void {
    this.#held = undefined;
  }

  async #repositoryIds(signal: AbortSignal): Promise<number[]> {
    if (this.#held !== undefined && Date.now() < this.#held.untilMs) return this.#held.ids;
    const found = await this.#api.repositories(signal);
    const idsByName = new Map(found.map(({ name, id }) => [name.toLowerCase(), id]));
    const ids = this.settings.repositories.map((name) => idsByName.get(name.toLowerCase()));
    const unknown = this.settings.repositories.filter((_, index) => ids[index] === undefined);
    if (unknown.length > 0) throw unknownRepositories(this.#api.label, unknown);
    this.#held = { ids: ids.filter((id) => id !== undefined), untilMs: Date.now() + validMs };
    return this.#held.ids;
  }
}

const unknownRepositories = (label: string, names: readonly string[]): Fault =>
  new Fault(
    'rejected',
    `selected_repository_names: ${label} has no ${names.join(', ')}, or the credentials cannot see it`,
    { mayPass: true },
  );
