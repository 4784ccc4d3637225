import { setTimeout as sleep } from 'node:timers/promises';
import type { Broker } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { errorCode, Problem, syncQueue } from '@secrets/domain';
import type { Budget } from '@secrets/scheduler';
import { type AdmittedEntries, admitEntries, releaseAdmitted } from '@secrets/sync-entries';
import type { Logger } from '@secrets/telemetry';
import { Announcements } from './announcements.ts';

export interface Scheduler {
  /** Says that entries may have become due: those of one type, or of any. */
  notify(destinationType?: string): void;
  /** Resolves when what is in progress has ended. */
  stop(): Promise<void>;
}

export interface SchedulerOptions {
  db: Db;
  broker: Pick<Broker, 'publish'>;
  log: Logger;
  /** The budget of each lane, by destination type. */
  budgets: Readonly<Record<string, Budget>>;
}

/** Pauses between two rounds of a type: while entries wait for room (longer with each round that finds none), while nothing is due, and after a failure. */
const pauseMs = { busy: 8, maxBusy: 50, idle: 250, firstFailure: 200, maxFailure: 5_000 };
/** While it waits for room, a scheduler is busy at most 20 % of the time. */
const restFactor = 4;

/**
 * Starts the scheduler: one loop per destination type, so that a type whose queue rejects messages affects no other. Each round admits due
 * entries by their lanes and publishes them with a confirm. Safe to run in several processes; one of them schedules a type at a time.
 */
export function startScheduler(options: SchedulerOptions): Scheduler {
  const stopping = new AbortController();
  const wakes = new Map<string, () => void>();
  const loops = Object.keys(options.budgets).map((type) =>
    runType(type, options, { signal: stopping.signal, wakes }),
  );
  const notify = (destinationType?: string) => {
    if (destinationType !== undefined) return wakes.get(destinationType)?.();
    for (const wake of wakes.values()) wake();
  };
  return {
    notify,
    stop: async () => {
      stopping.abort();
      notify();
      await Promise.all(loops);
    },
  };
}

interface Loop {
  signal: AbortSignal;
  /** What wakes the loops that sleep, by type. */
  wakes: Map<string, () => void>;
}

async function runType(type: string, options: SchedulerOptions, { signal, wakes }: Loop): Promise<void> {
  const log = options.log.child({ destinationType: type });
  const announcements = new Announcements(options.db, log);
  let failures = 0;
  let emptyRounds = 0;
  let isNotified = false;
  let wake = () => {};
  wakes.set(type, () => {
    isNotified = true;
    wake();
  });
  /** Ends early when the loop is notified, also if that happened since the round began. */
  const pause = async (ms: number) => {
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
    });
    if (!isNotified) await Promise.race([woken, sleep(ms, undefined, { signal }).catch(() => undefined)]);
    isNotified = false;
  };
  while (!signal.aborted) {
    try {
      isNotified = false;
      const startedMs = performance.now();
      const round = await runRound(type, options, announcements);
      const tookMs = performance.now() - startedMs;
      emptyRounds = round.messages.length > 0 ? 0 : emptyRounds + 1;
      if (failures > 0) log.info('the scheduler publishes again');
      failures = 0;
      await pause(pauseAfter(round, { tookMs, emptyRounds }));
    } catch (error) {
      if (failures === 0) log.warn({ reason: reasonOf(error) }, 'the scheduler cannot publish; retrying');
      failures += 1;
      await sleep(
        Math.min(pauseMs.maxFailure, pauseMs.firstFailure * 2 ** Math.min(failures, 10)),
        undefined,
        {
          signal,
        },
      ).catch(() => undefined);
    }
  }
  await announcements.stop();
}

/** How many milliseconds to pause after a round: shorter if a lane has a call again or a pause ends before. */
function pauseAfter(
  {
    isBusy,
    messages,
    nextReopeningMs = Number.POSITIVE_INFINITY,
    nextTokenMs = Number.POSITIVE_INFINITY,
  }: AdmittedEntries,
  { tookMs, emptyRounds }: { tookMs: number; emptyRounds: number },
): number {
  const longerMs = Math.min(pauseMs.maxBusy, pauseMs.busy * 2 ** Math.min(emptyRounds, 10));
  const busyMs = Math.min(longerMs, Math.max(pauseMs.busy, nextTokenMs));
  const idleMs = pauseMs.idle * (0.75 + Math.random() / 2);
  const waitMs = Math.min(isBusy ? busyMs : idleMs, nextReopeningMs);
  return messages.length > 0 ? waitMs : Math.max(waitMs, tookMs * restFactor, 1);
}

/** Admits and publishes what a type has room for. Entries that cannot be published are due again at once. */
async function runRound(
  type: string,
  { db, broker, budgets }: SchedulerOptions,
  announcements: Announcements,
): Promise<AdmittedEntries> {
  const admitted = await admitEntries(db, { destinationType: type, budget: budgets[type]! });
  const { messages, announcedAt } = admitted;
  if (announcedAt === undefined) return admitted;
  const entryIds = messages.map(({ entry_id }) => entry_id);
  try {
    await broker.publish(syncQueue(type), messages);
  } catch (error) {
    await releaseAdmitted(db, { entryIds, announcedAt });
    throw error;
  }
  announcements.add({ entryIds, announcedAt });
  return admitted;
}

const reasonOf = (error: unknown): string =>
  error instanceof Problem ? error.message : (errorCode(error) ?? 'unknown');
