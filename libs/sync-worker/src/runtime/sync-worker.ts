import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { every, type Repeated } from '@secrets/background';
import type { Broker, Consumer } from '@secrets/broker';
import type { Db } from '@secrets/db';
import { syncQueue } from '@secrets/domain';
import type { KeyRing } from '@secrets/seal';
import { readSyncConfig } from '@secrets/sync-entries';
import type { Logger, Metrics } from '@secrets/telemetry';
import type { Driver } from '../driver/driver.ts';
import type { EgressGuard } from '../egress/egress-guard.ts';
import { Clients } from '../entry/clients.ts';
import { entryStatements } from '../entry/entry-statements.ts';
import { handleEntry } from '../entry/handle-entry.ts';
import { type WorkerContext, workerMetrics } from '../entry/worker-context.ts';
import { Attempts } from '../limits/attempts.ts';
import { DestinationLimiter } from '../limits/destination-limiter.ts';

/** What a worker is built from. */
export interface SyncWorkerDeps {
  db: Db;
  broker: Broker;
  keyRing: KeyRing;
  egress: EgressGuard;
  log: Logger;
  metrics: Metrics;
}

export interface SyncWorkerConfig {
  /** Entries worked on at once. */
  concurrency: number;
  leaseSeconds: number;
  /** The installation's prefix of external names. */
  prefix: string;
  /** How long a stop lets attempts go on before it gives them up; default 5 s. */
  stopGraceSeconds?: number;
}

/** A worker of one destination type. */
export interface SyncWorker {
  start(): Promise<void>;
  /** Takes no more, finishes what it holds if that ends soon and leaves it to others if not, closes its clients. */
  stop(): Promise<void>;
}

const switchPollSeconds = 0.4;
/** With it a process ends within the 10 s that `docker stop` waits by default, also while a destination is silent. */
const defaultStopGraceSeconds = 5;

/** Builds the worker of one destination type around its driver. */
export function createSyncWorker(driver: Driver, deps: SyncWorkerDeps, config: SyncWorkerConfig): SyncWorker {
  const { db, broker, keyRing, egress, log } = deps;
  const worker: WorkerContext = {
    db,
    statements: entryStatements(db, {
      destinationType: driver.type,
      owner: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
      leaseSeconds: config.leaseSeconds,
    }),
    keyRing,
    clients: new Clients(driver, { log, egress, prefix: config.prefix }, keyRing),
    limiter: new DestinationLimiter(config.concurrency),
    attempts: new Attempts(),
    log,
    metrics: workerMetrics(deps.metrics),
    type: driver.type,
    leaseSeconds: config.leaseSeconds,
  };
  let consumer: Consumer | undefined;
  let watch: Repeated | undefined;
  return {
    start: async () => {
      const { concurrency } = config;
      consumer = await broker.consume(syncQueue(driver.type), { concurrency }, (message) =>
        handleEntry(worker, message),
      );
      watch = watchSwitch(db, consumer, log);
    },
    stop: async () => {
      const graceMs = (config.stopGraceSeconds ?? defaultStopGraceSeconds) * 1000;
      const grace = setTimeout(() => worker.attempts.cancelAll(), graceMs);
      await watch?.stop();
      await consumer?.stop();
      clearTimeout(grace);
      await worker.clients.close();
    },
  };
}

/**
 * Stops consuming within a second of syncing being disabled, and goes on when it is enabled again. A switch that cannot
 * be read counts as off: without the database every message would only be requeued until it is dead-lettered.
 */
function watchSwitch(db: Db, consumer: Consumer, log: Logger): Repeated {
  let seen: Switch = 'enabled';
  return every(switchPollSeconds, 'sync switch', log, async () => {
    const now = await readSwitch(db);
    if (now === seen) return;
    await (now === 'enabled' ? consumer.resume() : consumer.pause());
    log.info({ from: seen, to: now }, 'syncing was switched');
    seen = now;
  });
}

type Switch = 'enabled' | 'disabled' | 'unreadable';

const readSwitch = (db: Db): Promise<Switch> =>
  readSyncConfig(db).then(
    ({ disabled }) => (disabled ? 'disabled' : 'enabled'),
    () => 'unreadable',
  );
