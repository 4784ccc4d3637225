import { setTimeout as sleep } from 'node:timers/promises';
import { type Observed, unsettled } from './check/settled.ts';
import { MixedLoad } from './load/load.ts';
import { createWorld, type World } from './load/world.ts';
import { drawSchedule } from './schedule/draw-schedule.ts';
import { type ScheduledFault, targetOf } from './schedule/fault.ts';
import { Injector } from './stage/injector.ts';
import { type Stage, startStage } from './stage/stage.ts';
import { observe } from './witness/observe.ts';
import { examine, type Violations } from './witness/testimony.ts';

export interface FireOptions {
  seed: number;
  /** How many faults. */
  faults: number;
  /** The mean time between two faults. */
  everyMs: number;
  /** After this many faults, the system must settle, and the history is checked. */
  faultsPerRound: number;
  /** How long the system may take to settle. */
  settleMs: number;
  /** Runs the services of this folder in place of those of the repository. */
  sourceRoot?: string | undefined;
  log: (line: string) => void;
}

/** What a run did and found. */
export interface FireReport {
  seed: number;
  faults: Record<string, number>;
  /** By act, then by outcome. */
  operations: Record<string, Record<string, number>>;
  /** How long the system took to settle after each round, in milliseconds. */
  settledAfterMs: number[];
  violations: Violations;
  /** From the first fault until the first violation was found; null if there is none. */
  foundAfterMs: number | null;
  durationMs: number;
  fullDisk: string;
}

/** Disturbs a system under load, round by round, until a round ends with a violation or all faults were caused. */
export async function runUnderFire(options: FireOptions): Promise<FireReport> {
  const stage = await startStage(options);
  try {
    const run = new FireRun(stage, await createWorld(stage), options);
    return await run.rounds();
  } finally {
    await stage.stop();
  }
}

/** How often the log says why the system has not settled yet. */
const noteSeconds = 10;

class FireRun {
  readonly #stage: Stage;
  readonly #world: World;
  readonly #options: FireOptions;
  readonly #load: MixedLoad;
  readonly #injector: Injector;
  readonly #caused: ScheduledFault[] = [];
  readonly #settledAfterMs: number[] = [];

  constructor(stage: Stage, world: World, options: FireOptions) {
    this.#stage = stage;
    this.#world = world;
    this.#options = options;
    this.#load = new MixedLoad(world, options.seed);
    this.#injector = new Injector(stage);
  }

  async rounds(): Promise<FireReport> {
    const { seed, faults: count, everyMs, faultsPerRound, log } = this.#options;
    const schedule = drawSchedule({ seed, count, everyMs }, this.#stage.targets);
    await this.#load.prepare();
    const started = performance.now();
    let violations: Violations = {};
    let foundAfterMs: number | null = null;
    for (let first = 0; first < count && foundAfterMs === null; first += faultsPerRound) {
      violations = await this.#round(schedule.slice(first, first + faultsPerRound));
      const all = Object.entries(violations).flatMap(([check, found]) => found.map((one) => `${check}: ${one}`));
      for (const one of all.slice(0, 20)) log(`VIOLATION ${one}`);
      if (all.length > 0) foundAfterMs = Math.round(performance.now() - started);
    }
    return {
      seed,
      faults: countBy(this.#caused, ({ fault }) => fault.kind),
      operations: this.#operations(),
      settledAfterMs: this.#settledAfterMs,
      violations,
      foundAfterMs,
      durationMs: Math.round(performance.now() - started),
      fullDisk: [...this.#stage.disks.values()][0]!.how,
    };
  }

  async #round(schedule: readonly ScheduledFault[]): Promise<Violations> {
    this.#load.start();
    await this.#cause(schedule);
    await this.#load.stop();
    const { observed, reasons } = await this.#settle();
    const { log } = this.#options;
    log(`settled after ${this.#settledAfterMs.at(-1)} ms; checking ${this.#load.recorder.history.length} operations`);
    const { recorder } = this.#load;
    const { standstills } = this.#injector;
    const evidence = { stage: this.#stage, world: this.#world, recorder, standstills, observed };
    return { settled: reasons, ...(await examine(evidence)) };
  }

  /** Causes the faults at their times, and resolves when all of them have ended. */
  async #cause(schedule: readonly ScheduledFault[]): Promise<void> {
    const { log } = this.#options;
    const running: Promise<void>[] = [];
    let at = schedule[0]?.atMs ?? 0;
    for (const one of schedule) {
      await sleep(one.atMs - at);
      at = one.atMs;
      this.#caused.push(one);
      const { fault } = one;
      log(`${String(this.#caused.length).padStart(4)} ${fault.kind} ${targetOf(fault)}, ${fault.ms} ms`);
      running.push(this.#injector.cause(fault));
    }
    await Promise.all(running);
    this.#stage.links.heal();
    await this.#world.sandbox.clearFaults();
  }

  /** Does what an operator does after an outage, and waits until all is as wanted. */
  async #settle(): Promise<{ observed: Observed; reasons: string[] }> {
    const started = performance.now();
    await this.#resume();
    const deadline = started + this.#options.settleMs;
    const { log } = this.#options;
    let nextNote = noteSeconds;
    let observed: Observed | undefined;
    for (;;) {
      observed = (await observe(this.#stage, this.#world).catch(() => undefined)) ?? observed;
      const reasons = observed === undefined ? ['the system does not respond'] : unsettled(observed);
      if (reasons.length === 0 || performance.now() > deadline) {
        this.#settledAfterMs.push(Math.round(performance.now() - started));
        return { observed: observed!, reasons };
      }
      const seconds = Math.floor((performance.now() - started) / 1_000);
      if (seconds >= nextNote) log(`not settled after ${seconds} s: ${reasons.slice(0, 3).join('; ')}`);
      if (seconds >= nextNote) nextNote += noteSeconds;
      await sleep(500);
    }
  }

  /** Enables syncing, and has what failed tried again now: the pauses of what was down may be long. */
  async #resume(): Promise<void> {
    const { api, lasting, cycled } = this.#world;
    await api('PATCH', 'sys/sync/config', { disabled: false });
    const { body } = await api('GET', 'sys/sync/destinations?list=true');
    const existing = new Set(Object.entries(body.data.key_info).flatMap(([type, names]) => (names as string[]).map((name) => `${type}/${name}`)));
    for (const { id, path } of [...lasting, ...cycled])
      if (existing.has(id)) await api('POST', `${path}/retry`, {});
  }

  #operations(): Record<string, Record<string, number>> {
    const byAct = Map.groupBy(this.#load.recorder.history, ({ act }) => act);
    return Object.fromEntries([...byAct].map(([act, all]) => [act, countBy(all, ({ outcome }) => outcome)]));
  }
}

const countBy = <T>(all: readonly T[], keyOf: (one: T) => string): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(all, keyOf)].map(([key, same]) => [key, same.length]));
