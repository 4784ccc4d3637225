import type { CodehostSettings } from '@secrets/destinations';
import { Fault } from '@secrets/domain';
import { hasCode, parseResponse, requireSegment, type ScopeMemory } from '@secrets/sync-worker';
import type { CodehostApi } from './codehost-api.ts';
import { Identified } from './schema.ts';

type Kind = 'repository' | 'environment' | 'organization';

/** Paths of a place, by its names or by its ID. */
interface Addresses {
  /** The repository or the organization, by its name. */
  named: string;
  byId(id: number): string;
  /** The path of the environment below the repository; empty for none. */
  below: string;
}

/**
 * Where the secrets are: a repository, an environment of one, or an organization. The settings name it, and the name
 * may be given to another one, so everything is addressed by the ID that was remembered at the first contact. The
 * provider redirects to these paths when a repository was renamed, and its links between pages use them
 * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#follow-redirects). A server
 * that does not know them is addressed by name.
 */
export class SecretsLocation {
  readonly kind: Kind;
  /** What can use the secrets. */
  readonly app: CodehostSettings['secrets_app'];
  /** For messages. */
  readonly label: string;
  readonly #api: CodehostApi;
  readonly #memory: ScopeMemory;
  readonly #addresses: Addresses;
  readonly #seen = new Map<string, { etag: string; id: number }>();
  #knowsIds: boolean | undefined;

  constructor(api: CodehostApi, settings: CodehostSettings, memory: ScopeMemory) {
    this.#api = api;
    this.#memory = memory;
    this.kind = kindOf(settings);
    this.app = settings.secrets_app;
    this.label = labelOf(settings);
    this.#addresses = addressesOf(settings);
  }

  /**
   * The remembered ID: that of the organization, or of the repository, followed by `/` and that of the environment;
   * null if none is.
   */
  get id(): string | null {
    return this.#memory.id;
  }

  /** Whether an earlier check has found out by what the place is addressed. */
  get isAddressed(): boolean {
    return this.#knowsIds !== undefined;
  }

  /** The path of the repository, its environment or the organization. */
  get path(): string {
    const { named, byId, below } = this.#addresses;
    return `${this.#knowsIds ? byId(this.#ownerId()) : named}${below}`;
  }

  /**
   * Requires, before a write, that the name still denotes what it denoted at the first contact. A place that was
   * renamed is followed, unless another one has its name. One conditional request, which costs nothing of the hourly
   * limit while nothing changes
   * (https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate),
   * and another one for the first write of a client.
   * @throws {Fault} `rejected` if it is another one, or no longer exists
   */
  async require(signal: AbortSignal): Promise<void> {
    const seen = await this.#identify(signal);
    if (seen !== undefined) await this.#memory.require(seen, { label: this.label, kind: this.kind });
    const isThere = await this.#findById(signal).catch(unlessForbidden);
    if (seen === undefined && this.#memory.id !== null && isThere === false) throw this.gone();
  }

  /** Finds the place for a removal, also if another one has its name. Returns false if it no longer exists. */
  async find(signal: AbortSignal): Promise<boolean> {
    if (this.#memory.id === null) {
      await this.require(signal);
      return true;
    }
    // What cannot be seen is not gone.
    if ((await this.#findById(signal)) !== false) return this.#isSameEnvironment(signal);
    return (await this.#identify(signal, true)) === this.#memory.id; // by name, at a server that does not know IDs
  }

  /** An environment that was deleted and created again has other secrets. */
  async #isSameEnvironment(signal: AbortSignal): Promise<boolean> {
    const [, remembered] = this.#memory.id?.split('/') ?? [];
    if (remembered === undefined) return true;
    const id = await this.#idOf(this.path, signal).catch(unlessForbidden);
    return id === undefined || String(id) === remembered;
  }

  gone(): Fault {
    return new Fault(
      'rejected',
      `${this.label} does not exist, or the credentials have no permission for its secrets (NotFound)`,
      { mayPass: true },
    );
  }

  /**
   * Returns the ID that the name has now; undefined if that cannot be seen. Of an environment that cannot be read, only
   * that of its repository.
   */
  async #identify(signal: AbortSignal, mustSee = false): Promise<string | undefined> {
    const { named, below } = this.#addresses;
    const environment =
      below === '' ? undefined : await this.#idOf(`${named}${below}`, signal).catch(unlessForbidden);
    if (environment !== undefined && this.#memory.id?.endsWith(`/${environment}`)) return this.#memory.id;
    const looking = this.#idOf(named, signal);
    const owner = await (mustSee ? looking : looking.catch(unlessForbidden));
    if (owner === undefined) return undefined;
    if (environment !== undefined && this.#memory.id !== String(owner)) return `${owner}/${environment}`;
    return below !== '' && this.#memory.id?.startsWith(`${owner}/`) ? this.#memory.id : String(owner);
  }

  /** Looks once whether the server knows the place by its ID. Returns undefined if that is not known. */
  async #findById(signal: AbortSignal): Promise<boolean | undefined> {
    if (this.#memory.id !== null)
      this.#knowsIds ??= (await this.#idOf(this.#addresses.byId(this.#ownerId()), signal)) !== undefined;
    return this.#knowsIds;
  }

  #ownerId = (): number => Number.parseInt(this.#memory.id ?? '', 10);

  /**
   * Returns undefined if there is nothing.
   * @throws {Fault} `forbidden` if the credentials may not see it, among others
   */
  async #idOf(path: string, signal: AbortSignal): Promise<number | undefined> {
    const operation = `get ${path}`;
    const seen = this.#seen.get(path);
    try {
      const answer = await this.#api.readIfChanged(operation, path, seen?.etag, signal);
      if (answer === undefined) return seen?.id;
      const { id } = parseResponse(operation, Identified, answer.data);
      if (answer.etag !== undefined) this.#seen.set(path, { etag: answer.etag, id });
      return id;
    } catch (error) {
      if (!hasCode(error, 'NotFound')) throw error;
      return undefined;
    }
  }
}

function unlessForbidden(error: unknown): undefined {
  if (!(error instanceof Fault) || error.kind !== 'forbidden') throw error;
}

function kindOf({ secrets_location, environment_name }: CodehostSettings): Kind {
  if (secrets_location === 'organization') return 'organization';
  return environment_name === '' ? 'repository' : 'environment';
}

function labelOf(settings: CodehostSettings): string {
  const { repository_owner: owner, repository_name: name, environment_name: environment } = settings;
  if (settings.secrets_location === 'organization') return `the organization ${settings.organization_name}`;
  if (environment === '') return `the repository ${owner}/${name}`;
  return `the environment ${JSON.stringify(environment)} of ${owner}/${name}`;
}

function addressesOf(settings: CodehostSettings): Addresses {
  const { repository_owner: owner, repository_name: name, environment_name: environment } = settings;
  if (settings.secrets_location === 'organization')
    return {
      named: `/orgs/${requireSegment('organization_name', settings.organization_name)}`,
      byId: (id) => `/organizations/${id}`,
      below: '',
    };
  return {
    named: `/repos/${requireSegment('repository_owner', owner)}/${requireSegment('repository_name', name)}`,
    byId: (id) => `/repositories/${id}`,
    below: environment === '' ? '' : `/environments/${requireSegment('environment_name', environment)}`,
  };
}
