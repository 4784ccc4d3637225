import { Fault } from '@secrets/domain';

/**
 * Remembers the provider's ID of the scope of a destination: its repository, project, account or the like. The settings contain
 * only its name, which may be given to another one, so the ID of the first contact counts (docs/conventions/sync.md#scopes).
 */
export class ScopeMemory {
  readonly #record: (id: string) => Promise<string>;
  readonly #recordMembers: (seen: ScopeIds) => Promise<ScopeIds>;
  #id: string | null;
  #members: ScopeIds;

  /** @param record remembers an ID durably unless another one is remembered, and returns the one that is */
  constructor(
    id: string | null,
    record: (id: string) => Promise<string>,
    { known = {}, record: recordMembers = async (seen) => seen }: MemberMemory = {},
  ) {
    this.#id = id;
    this.#record = record;
    this.#members = known;
    this.#recordMembers = recordMembers;
  }

  /** The remembered ID; null before the first contact. */
  get id(): string | null {
    return this.#id;
  }

  /** The remembered IDs of members of the scope that the settings name, such as selected repositories. */
  get members(): ScopeIds {
    return this.#members;
  }

  /**
   * Remembers the IDs of these members at their first contact, and forgets those of others. To be called before anything
   * is written; afterwards, `members` has the IDs that count.
   */
  async rememberMembers(seen: ScopeIds): Promise<void> {
    const names = (ids: ScopeIds) => Object.keys(ids).sort().join('\n');
    if (names(seen) !== names(this.#members)) this.#members = await this.#recordMembers(seen);
  }

  /**
   * Remembers the ID of the first contact. To be called before anything is written.
   * @param scope for the message: `the repository acme/app` and `repository`
   * @throws {Fault} `rejected` if another ID is remembered
   */
  async require(id: string, { label, kind }: ScopeName): Promise<void> {
    this.#id ??= await this.#record(id);
    if (this.#id !== id) throw otherScope({ id, remembered: this.#id, label, kind });
  }
}

/** IDs of the provider, by name. */
export type ScopeIds = Readonly<Record<string, string>>;

interface MemberMemory {
  known?: ScopeIds;
  /** Remembers IDs durably, except of names of which another one is remembered, and returns those that are. */
  record?(seen: ScopeIds): Promise<ScopeIds>;
}

/** Wording for a scope in messages. */
interface ScopeName {
  label: string;
  kind: string;
}

const otherScope = ({ id, remembered, label, kind }: ScopeName & { id: string; remembered: string }): Fault =>
  new Fault(
    'rejected',
    `${label} is now another ${kind} (ID ${id}, was ${remembered}), so nothing is written to it; delete the destination, or call its confirm-scope with "scope_id": ${JSON.stringify(id)} to write to this one from now on`,
  );
