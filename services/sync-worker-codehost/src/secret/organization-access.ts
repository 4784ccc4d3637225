import type { CodehostSettings } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { hasCode, type ScopeIds, type ScopeMemory } from '@secrets/sync-worker';
import type { OrganizationApi } from '../api/organization-api.ts';
import type { FoundSecret, Repositories } from '../api/schema.ts';
import type { Access, ScopeResponse } from '../api/secret-scope.ts';

/** Who sees a secret, as the settings say it: repositories by their names. */
export interface AccessSettings {
  visibility: Exclude<CodehostSettings['organization_visibility'], ''>;
  repositories: string[];
}

const validMs = 600_000;
const accesses = ['all', 'private', 'selected'] as const;

/**
 * Who sees the secrets of an organization's destination. Repositories are remembered by their IDs, since their names may be
 * given to others, and compared with their names every ten minutes.
 */
export class OrganizationAccess {
  readonly #api: OrganizationApi;
  readonly #settings: CodehostSettings;
  readonly #memory: ScopeMemory;
  #held: { ids: number[]; untilMs: number } | undefined;
  #demandsValue = false;

  constructor(api: OrganizationApi, settings: CodehostSettings, memory: ScopeMemory) {
    this.#api = api;
    this.#settings = settings;
    this.#memory = memory;
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

  /** Has the IDs compared with the names again, after the provider has refused them: a repository may be gone. */
  forgetIds(): void {
    this.#held = undefined;
  }

  /** Throws a fault if a name is unknown, or denotes another repository than at the first contact. */
  async #repositoryIds(signal: AbortSignal): Promise<number[]> {
    if (this.#held !== undefined && Date.now() < this.#held.untilMs) return this.#held.ids;
    const names = this.settings.repositories;
    const seen = seenIds(names, await this.#api.repositories(signal), this.#memory.members);
    const unknown = names.filter((name) => seen[keyOf(name)] === undefined);
    if (unknown.length > 0) throw unknownRepositories(this.#api.label, unknown);
    await this.#memory.rememberMembers(seen);
    const { members, id } = this.#memory;
    const other = names.find((name) => members[keyOf(name)] !== seen[keyOf(name)]);
    if (other !== undefined)
      throw otherRepository(`${other} of ${this.#api.label}`, {
        id: seen[keyOf(other)],
        was: members[keyOf(other)],
        scopeId: id,
      });
    this.#held = { ids: names.map((name) => Number(seen[keyOf(name)])), untilMs: Date.now() + validMs };
    return this.#held.ids;
  }
}

/** Names are not case-sensitive. */
const keyOf = (name: string): string => name.toLowerCase();

/**
 * Returns the IDs that the names denote, by their keys. A name that no repository has any more still denotes the remembered one,
 * if that was only renamed.
 */
function seenIds(names: readonly string[], found: Repositories, remembered: ScopeIds): ScopeIds {
  const byName = new Map(found.map(({ name, id }) => [keyOf(name), String(id)]));
  const all = new Set(byName.values());
  const idOf = (key: string) =>
    byName.get(key) ?? (all.has(remembered[key] ?? '') ? remembered[key] : undefined);
  const ids = names.map(keyOf).map((key) => [key, idOf(key)] as const);
  return Object.fromEntries(ids.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

const unknownRepositories = (label: string, names: readonly string[]): Fault =>
  new Fault(
    'rejected',
    `selected_repository_names: ${label} has no ${names.join(', ')}, or the credentials cannot see it`,
    { mayPass: true },
  );

const otherRepository = (
  repository: string,
  { id, was, scopeId }: { id: string | undefined; was: string | undefined; scopeId: string | null },
): Fault =>
  new Fault(
    'rejected',
    `selected_repository_names: ${repository} is now another repository (ID ${id}, was ${was}), so nothing is written; take it out of the list, or call the destination's confirm-scope with "scope_id": ${JSON.stringify(scopeId)} to accept the repositories that have these names now`,
  );
