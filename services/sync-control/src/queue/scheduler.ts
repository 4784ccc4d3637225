import { type Broker, type PublishingLoop, startPublishingLoop } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { Problem, syncQueue } from '@secrets/domain';
import type { Budget } from '@secrets/scheduler';
import { type AdmittedEntries, admitEntries, releaseAdmitted } from '@secrets/sync-entries';
import { type Logger, logFailure } from '@secrets/telemetry';
import { Announcements } from './announcements.ts';

export interface Scheduler {
  /** Wakes the scheduler because entries may have become due: of one type, or of any. */
  notify(destinationType?: string): void;
  /** Resolves when the rounds in progress have ended. */
  stop(): Promise<void>;
}

export interface SchedulerOptions {
  db: Db;
  broker: Pick<Broker, 'publish'>;
  log: Logger;
  /** The budget of each lane, by destination type. */
  budgets: Readonly<Record<string, Budget>>;
}

/** Pauses between two rounds: while entries wait for room (longer with each round that finds none), or nothing is due. */
const pauseMs = { busy: 8, maxBusy: 50, idle: 250 };
/** While it waits for room, a scheduler is busy at most 20 % of the time. */
const restFactor = 4;

/**
 * Starts the scheduler: one loop per destination type, so that a type whose queue rejects messages affects no other.
 * Each round admits due entries by their lanes and publishes them with a confirm. Safe to run in several processes; one
 * of them schedules a type at a time.
 */
export function startScheduler(options: SchedulerOptions): Scheduler {
  const loops = new Map(Object.keys(options.budgets).map((type) => [type, startType(type, options)]));
  return {
    notify: (destinationType) => {
      if (destinationType !== undefined) return loops.get(destinationType)?.notify();
      for (const { notify } of loops.values()) notify();
    },
    stop: async () => {
      await Promise.all([...loops.values()].map(({ stop }) => stop()));
    },
  };
}

function startType(type: string, options: SchedulerOptions): PublishingLoop {
  const log = options.log.child({ destinationType: type });
  const announcements = new Announcements(options.db, log);
  let emptyRounds = 0;
  const round = async () => {
    const startedMs = performance.now();
    const admitted = await runRound(type, options, announcements);
    const tookMs = performance.now() - startedMs;
    emptyRounds = admitted.messages.length > 0 ? 0 : emptyRounds + 1;
    return { sleepMs: pauseAfter(admitted, { tookMs, emptyRounds }), isProof: true };
  };
  const loop = startPublishingLoop({
    round,
    // An outage affects all types, and is logged once: as one of this process, not of the type.
    onFailure: (error, isFirst) => {
      const fields = { error, destinationType: type };
      if (isFirst || error instanceof Problem)
        logFailure(options.log, fields, 'the scheduler cannot publish; retrying');
    },
    onRecovery: () => undefined,
  });
  return {
    notify: loop.notify,
    stop: async () => {
      await loop.stop();
      await announcements.stop();
    },
  };
}

/**
 * Returns the milliseconds to pause after a round. The pause is shorter if a lane regains a call, or reopens, before it
 * ends.
 */
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

/** Admits and publishes entries of a type while it has room. Entries that cannot be published are due again at once. */
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
