import { History } from '../../simulation/history.ts';
import type { Variable } from './variable.ts';

/** A change, as it is persisted. */
export type VariableRecord = { variable: Variable } | { removed: string } | { cleared: true };

/** The variables of all projects. Every change is persisted. */
export class VariableStore {
  readonly #variables = new Map<string, Variable>();
  readonly #persist: (record: VariableRecord) => void;
  readonly #now: () => number;
  readonly #history: History<Variable>;
  #lastMs = 0;

  constructor(persist: (record: VariableRecord) => void, now: () => number) {
    this.#persist = persist;
    this.#now = now;
    this.#history = new History((variable) => ({ ...variable }), now);
  }

  /** The variables as they were at a time, to be read only. */
  asOf(ms: number): VariableStore {
    const view = new VariableStore(
      () => {},
      () => ms,
    );
    for (const variable of this.#history.at(ms)) view.#variables.set(variable.id, variable);
    return view;
  }

  /** The time of the next change, in milliseconds since 1970: later than that of every other one. */
  nextTime(): number {
    this.#lastMs = Math.max(this.#now(), this.#lastMs + 1);
    return this.#lastMs;
  }

  all = (): Variable[] => [...this.#variables.values()];

  get = (projectId: string, id: string): Variable | undefined => {
    const variable = this.#variables.get(id);
    return variable?.projectId === projectId ? variable : undefined;
  };

  /** The variables of a project, the newest first. */
  list(projectId: string): Variable[] {
    return this.all()
      .filter((variable) => variable.projectId === projectId)
      .sort((one, other) => other.createdAt - one.createdAt);
  }

  save(variable: Variable): void {
    this.#change({ variable });
    this.#history.record(variable.id, variable);
  }

  remove(variable: Variable): void {
    this.#change({ removed: variable.id });
    this.#history.record(variable.id, undefined);
  }

  clear(): void {
    this.#change({ cleared: true });
    this.#history.clear();
  }

  replay(record: VariableRecord): void {
    this.#apply(record);
    if ('variable' in record) this.#history.load(record.variable.id, record.variable);
    else if ('removed' in record) this.#history.load(record.removed, undefined);
    else this.#history.clear();
  }

  #apply(record: VariableRecord): void {
    if ('variable' in record) {
      this.#variables.set(record.variable.id, record.variable);
      this.#lastMs = Math.max(this.#lastMs, record.variable.updatedAt);
    } else if ('removed' in record) this.#variables.delete(record.removed);
    else this.#variables.clear();
  }

  *snapshot(): Generator<VariableRecord> {
    for (const variable of this.#variables.values()) yield { variable };
  }

  #change(record: VariableRecord): void {
    this.#persist(record);
    this.#apply(record);
  }
}
