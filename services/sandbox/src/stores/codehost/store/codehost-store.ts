import { History } from '../../../simulation/history.ts';
import type { ActionSecret } from './action-secret.ts';
import { fullName, idOf, Repositories, type Repository, type RepositorySpec } from './repository.ts';
import { isInRepository, organizationScope, type Scope, scopeOfApp } from './scope.ts';

/** A change, as it is persisted. The field names are the journal's format: existing files depend on them. */
export type CodehostRecord =
  | { secret: ActionSecret }
  | { removed: { scope: string; name: string } }
  | { repository: Repository }
  | { deletedRepository: number }
  | { organization: { login: string; id: number } }
  | { keys: number }
  | { app: { privateKey: string } }
  | { suspended: boolean }
  | { cleared: true };

/** The repositories, secrets and keys of the simulated code host. All changes go through `change`, which persists them. */
export class CodehostStore {
  readonly #specs: readonly RepositorySpec[];
  readonly #persist: (record: CodehostRecord) => void;
  readonly #history: History<ActionSecret>;
  #secrets = new Map<string, ActionSecret>();
  #repositories: Repositories;
  /** The IDs of organizations that were renamed, or have the former name of one, by their names in lower case. */
  #organizationIds = new Map<string, number>();
  #keyGeneration = 1;
  #isSuspended = false;
  #privateKey: string | undefined;

  constructor(
    specs: readonly RepositorySpec[],
    persist: (record: CodehostRecord) => void,
    now: () => number,
  ) {
    this.#specs = specs;
    this.#persist = persist;
    this.#repositories = new Repositories(specs);
    this.#history = new History(
      (secret) => ({ ...secret, access: secret.access && { ...secret.access } }),
      now,
    );
  }

  /** The secrets as they were at a time, to be read only, in the repositories of now. */
  asOf(ms: number): CodehostStore {
    const view = new CodehostStore(
      [],
      () => {},
      () => ms,
    );
    view.#repositories = this.#repositories;
    view.#organizationIds = this.#organizationIds;
    for (const secret of this.#history.at(ms)) view.#secrets.set(keyOf(secret.scope, secret.name), secret);
    return view;
  }

  get repositories(): Repositories {
    return this.#repositories;
  }

  /** The generation of the public keys: 1 at first, and incremented each time that they are replaced. */
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

  organizationId = (name: string): number =>
    this.#organizationIds.get(name.toLowerCase()) ?? idOf(`organization ${name.toLowerCase()}`);

  /**
   * Renames an organization, which keeps its ID, its repositories and its secrets. Nothing redirects from its former
   * name except to repositories
   * (https://docs.github.com/en/organizations/managing-organization-settings/renaming-an-organization). Whoever takes
   * that has another ID.
   */
  renameOrganization(from: string, to: string): void {
    const id = this.organizationId(from);
    for (const one of this.repositories.all().filter(({ owner }) => owner === from)) {
      const formerly = [...one.formerly, fullName(one).toLowerCase()];
      this.change({ repository: { ...one, owner: to, formerly } });
    }
    for (const scopeOf of [(scope: Scope) => scope, dependabotOf, codespacesOf]) {
      const [before, after] = [scopeOf(organizationScope(from)), scopeOf(organizationScope(to))];
      for (const secret of this.in(before)) {
        this.change({ removed: { scope: before.key, name: secret.name } });
        this.change({ secret: { ...secret, scope: after.key, label: after.label } });
      }
    }
    this.change({ organization: { login: to.toLowerCase(), id } });
    this.change({ organization: { login: from.toLowerCase(), id: idOf(`successor of ${id}`) } });
  }

  all = (): ActionSecret[] => [...this.#secrets.values()];

  change(record: CodehostRecord): void {
    this.#persist(record);
    this.#apply(record);
    if ('secret' in record)
      this.#history.record(keyOf(record.secret.scope, record.secret.name), record.secret);
    else if ('removed' in record)
      this.#history.record(keyOf(record.removed.scope, record.removed.name), undefined);
  }

  /** Applies a change that was persisted earlier. */
  replay(record: CodehostRecord): void {
    this.#apply(record);
    if ('secret' in record) this.#history.load(keyOf(record.secret.scope, record.secret.name), record.secret);
    else if ('removed' in record)
      this.#history.load(keyOf(record.removed.scope, record.removed.name), undefined);
  }

  #apply(record: CodehostRecord): void {
    if ('secret' in record) this.#secrets.set(keyOf(record.secret.scope, record.secret.name), record.secret);
    else if ('removed' in record) this.#secrets.delete(keyOf(record.removed.scope, record.removed.name));
    else if ('repository' in record) this.#repositories.put(record.repository);
    else if ('deletedRepository' in record) this.#deleteRepository(record.deletedRepository);
    else if ('organization' in record)
      this.#organizationIds.set(record.organization.login, record.organization.id);
    else if ('keys' in record) this.#keyGeneration = record.keys;
    else if ('app' in record) this.#privateKey = record.app.privateKey;
    else if ('suspended' in record) this.#isSuspended = record.suspended;
    else this.#clear();
  }

  *snapshot(): Generator<CodehostRecord> {
    for (const deletedRepository of this.#repositories.deletedIds()) yield { deletedRepository };
    for (const repository of this.#repositories.all()) yield { repository };
    for (const secret of this.#secrets.values()) yield { secret };
    for (const [login, id] of this.#organizationIds) yield { organization: { login, id } };
    yield { keys: this.#keyGeneration };
    yield { suspended: this.#isSuspended };
    if (this.#privateKey !== undefined) yield { app: { privateKey: this.#privateKey } };
  }

  /** Deletes a repository with its secrets and those of its environments. Secrets of its organization remain. */
  #deleteRepository(id: number): void {
    this.#repositories.delete(id);
    for (const [key, { scope, access }] of this.#secrets) {
      if (isInRepository(scope, id)) {
        this.#secrets.delete(key);
        this.#history.load(key, undefined);
      } else if (access !== undefined)
        access.repositoryIds = access.repositoryIds.filter((repositoryId) => repositoryId !== id);
    }
  }

  /** Keeps the keys, as after a restart. */
  #clear(): void {
    this.#secrets = new Map();
    this.#history.clear();
    this.#repositories = new Repositories(this.#specs);
    this.#organizationIds = new Map();
    this.#isSuspended = false;
  }
}

const dependabotOf = (scope: Scope) => scopeOfApp(scope, 'dependabot');
const codespacesOf = (scope: Scope) => scopeOfApp(scope, 'codespaces');

const keyOf = (scope: string, name: string): string => `${scope}\n${name}`;
