import type { ActionSecret } from './action-secret.ts';
import { Repositories, type Repository, type RepositorySpec } from './repository.ts';
import { isInRepository, type Scope } from './scope.ts';

/** A change, as it is persisted. The field names are the journal's format: existing files depend on them. */
export type CodehostRecord =
  | { secret: ActionSecret }
  | { removed: { scope: string; name: string } }
  | { repository: Repository }
  | { deletedRepository: number }
  | { keys: number }
  | { app: { privateKey: string } }
  | { suspended: boolean }
  | { cleared: true };

/** The repositories, secrets and keys of the simulated code host. All changes go through `change`, which persists them. */
export class CodehostStore {
  readonly #specs: readonly RepositorySpec[];
  readonly #persist: (record: CodehostRecord) => void;
  #secrets = new Map<string, ActionSecret>();
  #repositories: Repositories;
  #keyGeneration = 1;
  #isSuspended = false;
  #privateKey: string | undefined;

  constructor(specs: readonly RepositorySpec[], persist: (record: CodehostRecord) => void) {
    this.#specs = specs;
    this.#persist = persist;
    this.#repositories = new Repositories(specs);
  }

  get repositories(): Repositories {
    return this.#repositories;
  }

  /** How many times the public keys were replaced, counted from 1. */
  get keyGeneration(): number {
    return this.#keyGeneration;
  }

  get isSuspended(): boolean {
    return this.#isSuspended;
  }

  /** The private key of the application, once it was generated. */
  get privateKey(): string | undefined {
    return this.#privateKey;
  }

  /** Names are not case-sensitive. */
  get = (scope: Scope, name: string): ActionSecret | undefined =>
    this.#secrets.get(keyOf(scope.key, name.toUpperCase()));

  /** The secrets of a scope, by name. */
  in = (scope: Scope): ActionSecret[] =>
    this.all()
      .filter((secret) => secret.scope === scope.key)
      .sort((one, other) => one.name.localeCompare(other.name));

  all = (): ActionSecret[] => [...this.#secrets.values()];

  change(record: CodehostRecord): void {
    this.#persist(record);
    this.apply(record);
  }

  apply(record: CodehostRecord): void {
    if ('secret' in record) this.#secrets.set(keyOf(record.secret.scope, record.secret.name), record.secret);
    else if ('removed' in record) this.#secrets.delete(keyOf(record.removed.scope, record.removed.name));
    else if ('repository' in record) this.#repositories.put(record.repository);
    else if ('deletedRepository' in record) this.#deleteRepository(record.deletedRepository);
    else if ('keys' in record) this.#keyGeneration = record.keys;
    else if ('app' in record) this.#privateKey = record.app.privateKey;
    else if ('suspended' in record) this.#isSuspended = record.suspended;
    else this.#clear();
  }

  *snapshot(): Generator<CodehostRecord> {
    for (const deletedRepository of this.#repositories.deletedIds()) yield { deletedRepository };
    for (const repository of this.#repositories.all()) yield { repository };
    for (const secret of this.#secrets.values()) yield { secret };
    yield { keys: this.#keyGeneration };
    yield { suspended: this.#isSuspended };
    if (this.#privateKey !== undefined) yield { app: { privateKey: this.#privateKey } };
  }

  /** Deletes a repository with its secrets and those of its environments. Secrets of its organization remain. */
  #deleteRepository(id: number): void {
    this.#repositories.delete(id);
    for (const [key, { scope, access }] of this.#secrets) {
      if (isInRepository(scope, id)) this.#secrets.delete(key);
      else if (access !== undefined)
        access.repositoryIds = access.repositoryIds.filter((repositoryId) => repositoryId !== id);
    }
  }

  /** Keeps the keys, as after a restart. */
  #clear(): void {
    this.#secrets = new Map();
    this.#repositories = new Repositories(this.#specs);
    this.#isSuspended = false;
  }
}

const keyOf = (scope: string, name: string): string => `${scope}\n${name}`;
