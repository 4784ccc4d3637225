import { setTimeout as sleep } from 'node:timers/promises';
import { isAtRest, type Observed, reasonsUnsettled } from '../check/settled.ts';
import { type LoadKind, MixedLoad } from '../load/load.ts';
import type { Operation } from '../load/operation.ts';
import {
  createWorld,
  existingDestinations,
  type LoadedDestination,
  type World,
  type WorldOptions,
} from '../load/world.ts';
import { checkHistory, type Violations } from '../observer/check-history.ts';
import { lookAtTouched, takeBack } from '../observer/look-at-touched.ts';
import { observe } from '../observer/observe.ts';
import { drawSchedule } from '../schedule/draw-schedule.ts';
import { type ScheduledFault, targetOf } from '../schedule/fault.ts';
import { Injector } from '../stage/injector.ts';
import { type Stage, startStage } from '../stage/stage.ts';

export interface FireOptions extends WorldOptions {
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
  /** Whether lost messages are found as soon as usual, in place of once an hour. */
  repairsLosses?: boolean;
  /** How the standby of PostgreSQL gets the commits; by default there is none. */
  withStandby?: 'asynchronous';
  log: (line: string) => void;
}

/** The faults, operations and findings of a run. */
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
  /** How a disk was made full. */
  fullDisk: string;
}

/**
 * Duration of each call of a store, in milliseconds, long enough to notice two simultaneous calls. An attempt consists
 * of one or more calls and takes about a second, so most workers are in the middle of one whenever they are stopped,
 * and other workers when they run again.
 */
const usualLatencyMs: Readonly<Record<string, number>> = { 'cloudB-kv': 400, 'cloudC-sm': 300 };
const otherLatencyMs = 700;
/** Part of the time to settle after which nothing more is expected of a system that is at rest. */
const restPart = 1 / 3;
/** Interval at which the log says why the system has not settled yet. */
const noteSeconds = 10;

/** A system under load, and what disturbs and observes it. */
export class Campaign {
  readonly stage: Stage;
  readonly world: World;
  readonly load: MixedLoad;
  readonly injector: Injector;
  readonly schedule: readonly ScheduledFault[];
  readonly #options: FireOptions;
  readonly #caused: ScheduledFault[] = [];
  readonly #settledAfterMs: number[] = [];
  readonly #started = performance.now();
  #disturbedAt: number | undefined;
  #violations: Violations = {};
  #foundAfterMs: number | null = null;

  /** Starts a system, runs `work` on it and returns the report. */
  static async run(options: FireOptions, work: (campaign: Campaign) => Promise<void>): Promise<FireReport> {
    const stage = await startStage(options);
    try {
      const world = await createWorld(stage, options);
      const campaign = new Campaign(stage, world, options);
      await campaign.load.prepare();
      await work(campaign);
      return campaign.#report();
    } finally {
      await stage.stop();
    }
  }

  private constructor(stage: Stage, world: World, options: FireOptions) {
    const { seed, faults: count, everyMs } = options;
    this.stage = stage;
    this.world = world;
    this.#options = options;
    this.load = new MixedLoad(world, { seed, databaseUrl: stage.system.postgres.url });
    this.injector = new Injector(stage);
    this.schedule = drawSchedule({ seed, count, everyMs }, stage.targets);
  }

  /** Whether a violation was found. */
  get isOver(): boolean {
    return this.#foundAfterMs !== null;
  }

  log(line: string): void {
    this.#options.log(line);
  }

  /** Causes faults round by round, and checks the system after each one, until a violation was found. */
  async disturbInRounds(schedule: readonly ScheduledFault[]): Promise<void> {
    const { faultsPerRound } = this.#options;
    for (let first = 0; first < schedule.length && !this.isOver; first += faultsPerRound) {
      await this.disturb(schedule.slice(first, first + faultsPerRound));
      await this.check();
    }
  }

  /** Runs the load while these faults are caused. Resolves when all of them have ended, and no request is in flight. */
  async disturb(
    schedule: readonly ScheduledFault[],
    { load, meanwhile }: { load?: LoadKind; meanwhile?: () => Promise<void> } = {},
  ): Promise<void> {
    for (const store of this.stage.targets.stores) {
      const ms = usualLatencyMs[store] ?? otherLatencyMs;
      await this.world.sandbox.fault({ store, effect: 'slow', ms });
    }
    await this.#delayLists();
    this.load.start(load);
    this.#disturbedAt ??= performance.now();
    await Promise.all([this.#cause(schedule), meanwhile?.()]);
    await this.load.stop();
  }

  /** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_ListSecrets.html documents five minutes. */
  async #delayLists(): Promise<void> {
    await this.world.sandbox.fault({ store: 'cloudA-sm', effect: 'stale-list', ms: 300_000 });
  }

  async #cause(schedule: readonly ScheduledFault[]): Promise<void> {
    const running: Promise<void>[] = [];
    let at = schedule[0]?.atMs ?? 0;
    for (const one of schedule) {
      await sleep(one.atMs - at);
      at = one.atMs;
      this.#caused.push(one);
      const { fault } = one;
      this.log(`${String(this.#caused.length).padStart(4)} ${fault.kind} ${targetOf(fault)}, ${fault.ms} ms`);
      running.push(this.injector.cause(fault));
    }
    await Promise.all(running);
    this.stage.links.heal();
    await this.world.sandbox.clearFaults();
  }

  /** Waits until the system has settled, and checks the history. Returns whether all is well. */
  async check(
    history: readonly Operation[] = this.load.recorder.history,
    known: Violations = {},
  ): Promise<boolean> {
    const byHand = await this.#checkHands();
    const { observed, reasons } = await this.settle();
    this.log(`settled after ${this.#settledAfterMs.at(-1)} ms; checking ${history.length} operations`);
    const { stage, world } = this;
    const { errorBodies } = this.load.recorder;
    const { standstills } = this.injector;
    const evidence = { stage, world, history, errorBodies, standstills, observed };
    const found = { settled: reasons, 'changes by hand': byHand };
    this.#violations = { ...found, ...(await checkHistory(evidence)), ...known };
    const all = Object.entries(this.#violations).flatMap(([name, violations]) =>
      violations.map((one) => `${name}: ${one}`),
    );
    for (const one of all.slice(0, 20)) this.log(`VIOLATION ${one}`);
    if (all.length > 0) this.#foundAfterMs ??= Math.round(performance.now() - this.#disturbedAt!);
    return all.length === 0;
  }

  /** Checks that what was changed by hand is reported or repaired, and nothing else happened to it; then it is taken back. */
  async #checkHands(): Promise<string[]> {
    const { hands } = this.load;
    const changed = hands.takeChanges();
    if (changed.size === 0) return [];
    await this.#resume(this.world.touched);
    await this.#delayLists();
    const violations = await lookAtTouched(this.world, changed);
    this.log(`looked at ${changed.size} external secrets that were changed by hand`);
    await takeBack(this.world);
    return violations;
  }

  /** Does what an operator does after an outage, and waits until all is as wanted. */
  async settle(): Promise<{ observed: Observed; reasons: string[] }> {
    const { settleMs } = this.#options;
    const started = performance.now();
    await this.#resume();
    let nextNote = noteSeconds;
    let observed: Observed | undefined;
    let lastPendingMs = 0;
    for (;;) {
      const seen = await observe(this.stage, this.world).catch(() => undefined);
      observed = seen ?? observed;
      const reasons = observed === undefined ? ['the system does not respond'] : reasonsUnsettled(observed);
      const ms = Math.round(performance.now() - started);
      if (seen === undefined || !isAtRest(seen)) lastPendingMs = ms;
      const isOver = ms > settleMs || ms - lastPendingMs > settleMs * restPart;
      if (reasons.length === 0 || isOver) {
        this.#settledAfterMs.push(ms);
        return { observed: observed!, reasons };
      }
      if (ms >= nextNote * 1_000) {
        this.log(`not settled after ${nextNote} s: ${reasons.slice(0, 3).join('; ')}`);
        nextNote += noteSeconds;
      }
      await sleep(500);
    }
  }

  /**
   * Enables syncing, and has what failed tried again now, except in some destinations: the pauses of what was down may be long.
   */
  async #resume(except: readonly LoadedDestination[] = []): Promise<void> {
    const { api, apiUnlessGone } = this.world;
    await api('PATCH', 'sys/sync/config', { disabled: false });
    for (const one of await existingDestinations(this.world))
      if (!except.includes(one)) await apiUnlessGone('POST', `${one.path}/retry`, {});
  }

  #report(): FireReport {
    const { history } = this.load.recorder;
    const operations = [...Map.groupBy(history, ({ act }) => act)].map(([act, all]) => [
      act,
      countBy(all, ({ outcome }) => outcome),
    ]);
    return {
      seed: this.#options.seed,
      faults: countBy(this.#caused, ({ fault }) => fault.kind),
      operations: Object.fromEntries(operations),
      settledAfterMs: this.#settledAfterMs,
      violations: this.#violations,
      foundAfterMs: this.#foundAfterMs,
      durationMs: Math.round(performance.now() - this.#started),
      fullDisk: [...this.stage.disks.values()][0]!.how,
    };
  }
}

const countBy = <T>(all: readonly T[], keyOf: (one: T) => string): Record<string, number> =>
  Object.fromEntries([...Map.groupBy(all, keyOf)].map(([key, same]) => [key, same.length]));
