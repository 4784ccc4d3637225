import { createHash } from 'node:crypto';

/** A repository. The field names are the journal's format: existing files depend on them. */
export interface Repository {
  id: number;
  owner: string;
  name: string;
  private: boolean;
  /** Whether it is read-only. */
  archived?: boolean;
  environments: string[];
  /** Its former `owner/name` in lower case: requests for them are redirected. */
  formerly: string[];
  /** How often each environment was deleted, by its name in lower case: one that is created again has another ID. */
  deletedEnvironments?: Record<string, number>;
}

/** A repository that exists from the start. */
export interface RepositorySpec {
  owner: string;
  name: string;
  /** Default true. */
  private?: boolean;
  environments?: string[];
}

/** The repositories of a new sandbox. */
export const exampleRepositories: readonly RepositorySpec[] = [
  { owner: 'acme', name: 'web', environments: ['production', 'staging'] },
  { owner: 'acme', name: 'api' },
  { owner: 'acme', name: 'docs', private: false },
];

const firstId = 1001;

/** Repositories by their IDs, which are counted from 1001. */
export class Repositories {
  readonly #byId = new Map<number, Repository>();
  readonly #deletedIds = new Set<number>();
  #nextId = firstId;

  constructor(specs: readonly RepositorySpec[]) {
    for (const spec of specs) this.put(this.created(spec));
  }

  /** Returns a repository with a new ID, which `put` adds. */
  created({ owner, name, private: isPrivate = true, environments = [] }: RepositorySpec): Repository {
    return { id: this.#nextId, owner, name, private: isPrivate, environments, formerly: [] };
  }

  put(repository: Repository): void {
    this.#byId.set(repository.id, repository);
    this.#nextId = Math.max(this.#nextId, repository.id + 1);
  }

  /** Its ID is never used again. */
  delete(id: number): void {
    this.#byId.delete(id);
    this.#deletedIds.add(id);
    this.#nextId = Math.max(this.#nextId, id + 1);
  }

  deletedIds = (): number[] => [...this.#deletedIds];

  get = (id: number): Repository | undefined => this.#byId.get(id);

  /** Names are not case-sensitive. */
  find(owner: string, name: string): Repository | undefined {
    return this.all().find((one) => fullName(one).toLowerCase() === `${owner}/${name}`.toLowerCase());
  }

  /** The repository that had this name before it was renamed. */
  findFormer(owner: string, name: string): Repository | undefined {
    return this.all().find(({ formerly }) => formerly.includes(`${owner}/${name}`.toLowerCase()));
  }

  all = (): Repository[] => [...this.#byId.values()];
}

/** The ID of an environment, which is kept when its repository is renamed. */
export const environmentId = ({ id, deletedEnvironments }: Repository, environment: string): number =>
  idOf(
    `environment ${id} ${environment.toLowerCase()} ${deletedEnvironments?.[environment.toLowerCase()] ?? 0}`,
  );

/** An ID that is a function of the text. */
export const idOf = (text: string): number =>
  10_000 + (createHash('sha256').update(text).digest().readUInt32BE() >>> 1);

export const fullName = ({ owner, name }: Pick<Repository, 'owner' | 'name'>): string => `${owner}/${name}`;
