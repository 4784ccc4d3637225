import type { Variable } from './variable.ts';

/** A change, as it is persisted. */
export type VariableRecord = { variable: Variable } | { removed: string } | { cleared: true };

const maxRemembered = 1000;

/** The variables of all projects. Every change is persisted. */
export class VariableStore {
  readonly #variables = new Map<string, Variable>();
  readonly #persist: (record: VariableRecord) => void;
  readonly #now: () => number;
  /** What a stale list still shows: removed variables, with the time of their removal. */
  #removed: { variable: Variable; atMs: number }[] = [];
  #lastMs = 0;

  constructor(persist: (record: VariableRecord) => void, now: () => number) {
    this.#persist = persist;
    this.#now = now;
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

  /** The variables of a project as they were `staleMs` ago, the newest first. */
  list(projectId: string, staleMs: number): Variable[] {
    const sinceMs = this.#now() - staleMs;
    const removed = staleMs === 0 ? [] : this.#removed.filter(({ atMs }) => atMs > sinceMs);
    return [...this.all(), ...removed.map(({ variable }) => variable)]
      .filter((variable) => variable.projectId === projectId)
      .filter(({ createdAt }) => staleMs === 0 || createdAt <= sinceMs)
      .sort((one, other) => other.createdAt - one.createdAt);
  }

  save(variable: Variable): void {
    this.#change({ variable });
  }

  remove(variable: Variable): void {
    this.#removed = [...this.#removed.slice(1 - maxRemembered), { variable, atMs: this.#now() }];
    this.#change({ removed: variable.id });
  }

  clear(): void {
    this.#removed = [];
    this.#change({ cleared: true });
  }

  replay(record: VariableRecord): void {
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
    this.replay(record);
  }
}
