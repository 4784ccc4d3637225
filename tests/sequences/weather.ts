import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterFolder } from '../../libs/db/src/embedded/data-folder.ts';
import type { Api } from '../harness/http.ts';
import type { Installation } from '../harness/installation.ts';
import { jumpClock } from '../harness/jump-clock.ts';
import { openDatabase } from '../harness/standalone.ts';
import { snapshotOf } from '../outages/servers/volume-snapshot.ts';

const disturbEveryMs = 6_000;
const pauseEveryMs = 3_000;
/** The time of the commits that a failover loses. */
const lostMs = 2_000;
/** One in so many calls of the stores that begin then hangs. */
const hungEvery = 4;
/** One in so many calls fails while the clock is ahead. */
const failingEvery = 2;
/** The time after a call that hung in which the service corrects what it has written. */
const correctionMs = 3_000;

type Disturbed = Pick<Installation, 'crash' | 'dataDir' | 'env' | 'sandbox'>;

interface WeatherOptions {
  /** Repeats requests until they are answered. */
  api: Api;
  /** The destination types in use. */
  types: readonly string[];
  /** Duration of a call that begins while commits are lost: it ends after others were made in their place. */
  hungMs: number;
  /** Whether commits are lost and clocks jump again and again, or once. */
  isStormy: boolean;
}

/**
 * Disturbs a system while sequences are played on it. Every few seconds, the service is killed, or the database fails over
 * to a standby that lacks the last commits, or its clock jumps.
 */
export class Weather {
  /** Number of losses of commits so far. */
  losses = 0;
  readonly #system: Disturbed;
  readonly #options: WeatherOptions;
  readonly #ended = new AbortController();
  readonly #work = new Set<Promise<unknown>>();
  #disturbance: Promise<void> = Promise.resolve();
  #lateUntil = 0;
  #blowing: Promise<unknown> | undefined;

  constructor(system: Disturbed, options: WeatherOptions) {
    this.#system = system;
    this.#options = options;
  }

  start(): void {
    this.#blowing = Promise.all([this.#disturb(), this.#pause()]);
    this.#blowing.catch(() => undefined); // `stop` throws it
  }

  /** Throws if the service could not be disturbed, for example because it did not start again. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#blowing;
  }

  /** Whether calls that have seen lost commits may still be in progress. */
  get mayHaveLateCalls(): boolean {
    return Date.now() < this.#lateUntil;
  }

  /** Does work while nothing is disturbed. */
  async whileCalm(work: () => Promise<void>): Promise<void> {
    for (let awaited: unknown; awaited !== this.#disturbance; await awaited) awaited = this.#disturbance;
    const working = work();
    this.#work.add(working);
    await working.finally(() => this.#work.delete(working));
  }

  async #disturb(): Promise<void> {
    const crash = () => this.#system.crash();
    // In this order: what is done after a loss of commits would hide what a jump has left.
    const round = [() => this.#loseCommits(), () => this.#jumpClock(), crash, crash];
    let tookMs = 0;
    for (let next = 0; await this.#elapses(Math.max(disturbEveryMs, tookMs)); next += 1) {
      const began = Date.now();
      const isRare = next >= round.length && !this.#options.isStormy;
      await this.#exclusively(isRare ? crash : round[next % round.length]!);
      tookMs = Date.now() - began; // long on a busy machine, which also needs longer for everything else
    }
  }

  async #exclusively(disturb: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#disturbance = promise;
    await Promise.allSettled(this.#work);
    await disturb().finally(resolve);
  }

  async #loseCommits(): Promise<void> {
    if (!existsSync('/proc/self/status')) return; // its server can be halted only where there is /proc
    const folder = mkdtempSync(join(tmpdir(), 'sequences-'));
    try {
      const cluster = clusterFolder(join(this.#system.dataDir, 'postgres'));
      const { failOver } = await snapshotOf(cluster, join(folder, 'data.tar'));
      const hung = { effect: 'slow', every: hungEvery, ms: this.#options.hungMs };
      await this.#withFault(hung, () => sleep(lostMs));
      await failOver();
      this.losses += 1;
      this.#lateUntil = Date.now() + this.#options.hungMs + correctionMs;
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  async #jumpClock(): Promise<void> {
    const db = openDatabase(this.#system);
    // What is retried then waits for a time that lies ahead when the clock is back.
    await this.#withFault({ effect: 'server-error', every: failingEvery }, () => jumpClock(db)).finally(() =>
      db.close(),
    );
  }

  /** Does something while calls of all stores meet a fault. */
  async #withFault(fault: { effect: string; every: number; ms?: number }, work: () => Promise<void>) {
    const add = (store: string) => this.#system.sandbox.fault({ store, ...fault });
    const faults = await Promise.all(this.#options.types.map(add));
    await work();
    for (const { remove } of faults) await remove();
  }

  /** Disables syncing now and then, for a moment. */
  async #pause(): Promise<void> {
    const { api } = this.#options;
    while (await this.#elapses(pauseEveryMs)) {
      await api('PATCH', 'sys/sync/config', { disabled: true });
      await sleep(300);
      await api('PATCH', 'sys/sync/config', { disabled: false });
    }
  }

  /** Resolves after the time, with false if the weather has ended. */
  #elapses(ms: number): Promise<boolean> {
    return sleep(ms, undefined, { signal: this.#ended.signal }).then(
      () => true,
      () => false,
    );
  }
}
