import type { Db } from '@secrets/db';

/** When a process dies: at its nth effect, before it happens or right after. */
export interface Crash {
  effect: number;
  when: 'before' | 'after';
}

/** A process whose statements and requests are its effects. Once it is dead, it has none. */
export class CrashingProcess {
  readonly #death: Crash | undefined;
  #dead = false;
  effects = 0;

  constructor(death?: Crash) {
    this.#death = death;
  }

  get isDead(): boolean {
    return this.#dead;
  }

  /** The database as this process uses it. A transaction is one effect: it is committed, or it is not. */
  dbOf(db: Db): Db {
    return {
      ...db,
      query: ((...query: Parameters<Db['query']>) => this.effect(() => db.query(...query))) as Db['query'],
      transaction: (work) => this.effect(() => db.transaction(work)),
    };
  }

  async effect<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#dead) throw new Error('the process is dead');
    this.effects += 1;
    const dies = this.effects === this.#death?.effect;
    if (dies && this.#death?.when === 'before') return this.#die();
    const result = await work();
    return dies || this.#dead ? this.#die() : result;
  }

  #die(): never {
    this.#dead = true;
    throw new Error('the process died');
  }
}
