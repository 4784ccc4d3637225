import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { every, type Repeated } from '@secrets/background';
import type { Broker, Consumer, Verdict } from '@secrets/broker';
import { advanceClock } from '@secrets/clock';
import type { Db } from '@secrets/db';
import { CheckMessage, LookMessage, LookPageMessage, StoreReadMessage, syncQueue } from '@secrets/domain';
import type { EgressGuard } from '@secrets/egress';
import type { KeyRing } from '@secrets/seal';
import {
  forgetWorker,
  readSyncConfig,
  recordWorker,
  reportInstallation,
  type SyncState,
} from '@secrets/sync-entries';
import { type Logger, logFailure, type Metrics } from '@secrets/telemetry';
import { handleCheck } from '../check/handle-check.ts';
import type { Driver } from '../driver/driver.ts';
import { Clients } from '../entry/clients.ts';
import { entryStatements } from '../entry/entry-statements.ts';
import { handleEntry } from '../entry/handle-entry.ts';
import { LostClaims } from '../entry/lost-claims.ts';
import { SecretValues } from '../entry/values/secret-values.ts';
import type { WorkerContext } from '../entry/worker-context.ts';
import { Attempts } from '../limits/attempts.ts';
import { KnownFailures } from '../limits/known-failures.ts';
import { LaneReporter } from '../limits/lane-reporter.ts';
import { Slots } from '../limits/slots.ts';
import { handleLook, handleLookPage } from '../look/handle-look.ts';
import { handleStoreRead } from '../look/handle-store-read.ts';
import { type ImportWriter, noImportWriter } from '../look/import/import-writer.ts';
import { type IdentityTokens, noIdentityTokens } from './identity-tokens.ts';
import { observedDriver } from './observed-driver.ts';
import { workerMetrics } from './worker-metrics.ts';

export interface SyncWorkerDeps {
  /** For statements that may wait for a row that another transaction has locked. */
  db: Db;
  /** For claims and other statements that never do; default `db`. Four connections are enough. */
  unblockedDb?: Db;
  broker: Broker;
  keyRing: KeyRing;
  egress: EgressGuard;
  /** Default: the worker gets none. */
  identityTokens?: IdentityTokens;
  /** Default: the worker imports nothing. */
  imports?: ImportWriter;
  log: Logger;
  metrics: Metrics;
}

export interface SyncWorkerConfig {
  /** Number of entries for which the destination is called concurrently. */
  concurrency: number;
  leaseSeconds: number;
  /** The installation's prefix of external names. */
  prefix: string;
  /** The installation that this worker belongs to, if it has a name. */
  installation?: string | undefined;
  /** Total size of the values of more than 64 KiB that are in memory at once, in MiB; default 16. */
  largeValuesMib?: number;
  /** How long a stop waits for attempts in progress before it cancels them; default 5 s. */
  stopGraceSeconds?: number;
}

/** A worker of one destination type. */
export interface SyncWorker {
  start(): Promise<void>;
  /**
   * Stops consuming, waits for attempts in progress and closes the clients. Attempts that exceed the grace period are
   * cancelled, and another worker retries them.
   */
  stop(): Promise<void>;
}

const switchPollSeconds = 0.4;
/** Short enough for the process to end within the 10 s that `docker stop` waits by default. */
const defaultStopGraceSeconds = 5;

/** An attempt ends well before its lease, so that its last requests do not overlap with the next attempt's. */
const attemptShareOfLease = 0.6;

/** Creates the worker of one destination type around its driver. */
export function createSyncWorker(driver: Driver, deps: SyncWorkerDeps, config: SyncWorkerConfig): SyncWorker {
  const { db, unblockedDb = db, broker, imports = noImportWriter } = deps;
  const seen: { switch: Switch } = { switch: 'enabled' };
  const worker = workerContext(driver, deps, {
    ...config,
    isEnabled: () => seen.switch !== 'disabled' && seen.switch !== 'held',
  });
  const { limits, entries, observe } = worker;
  const report = () => reportInstallation(unblockedDb, config.installation);
  let isReported = false;
  const handle = async (message: unknown) => {
    if (!isReported) await report(); // nothing is called before it is known whether this worker belongs here
    isReported = true;
    return handleMessage(worker, imports, message);
  };
  let consumer: Consumer | undefined;
  let watch: Repeated | undefined;
  let heartbeat: { stop(): Promise<void> } | undefined;
  return {
    start: async () => {
      heartbeat = await announceWorker(db, observe.log, {
        destinationType: driver.type,
        slots: config.concurrency,
      });
      limits.lanes.start();
      entries.lostClaims.start();
      consumer = await broker.consume(syncQueue(driver.type), { concurrency: limits.slots.prefetch }, handle);
      watch = watchSwitch(unblockedDb, { consumer, seen, report, log: observe.log });
    },
    stop: async () => {
      const graceMs = (config.stopGraceSeconds ?? defaultStopGraceSeconds) * 1000;
      const grace = setTimeout(() => limits.attempts.cancelAll(), graceMs);
      await watch?.stop();
      await consumer?.stop();
      clearTimeout(grace);
      await limits.lanes.stop();
      await entries.lostClaims.stop();
      await heartbeat?.stop();
      await worker.clients.close();
      entries.values.close();
    },
  };
}

function handleMessage(worker: WorkerContext, imports: ImportWriter, message: unknown): Promise<Verdict> {
  const read = StoreReadMessage.safeParse(message);
  if (read.success) return handleStoreRead(worker, imports, read.data);
  const check = CheckMessage.safeParse(message);
  if (check.success) return handleCheck(worker, check.data);
  const page = LookPageMessage.safeParse(message);
  if (page.success) return handleLookPage(worker, page.data);
  const look = LookMessage.safeParse(message);
  return look.success ? handleLook(worker, look.data) : handleEntry(worker, message);
}

function workerContext(
  driver: Driver,
  deps: SyncWorkerDeps,
  {
    concurrency,
    leaseSeconds,
    prefix,
    largeValuesMib = 16,
    isEnabled,
  }: SyncWorkerConfig & Pick<WorkerContext['limits'], 'isEnabled'>,
): WorkerContext {
  const { db, unblockedDb = db, keyRing, egress, identityTokens = noIdentityTokens } = deps;
  const { log } = deps;
  const owner = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const lease = { destinationType: driver.type, owner, leaseSeconds };
  const values = new SecretValues(keyRing, largeValuesMib);
  const metrics = workerMetrics(deps.metrics, driver.type);
  const observed = observedDriver(driver, metrics);
  return {
    db,
    keyRing,
    clients: new Clients(observed, { log, egress, prefix }, { keyRing, db: unblockedDb, identityTokens }),
    limits: {
      slots: new Slots(concurrency),
      lanes: new LaneReporter(db, log),
      attempts: new Attempts(leaseSeconds * 1000 * attemptShareOfLease),
      isEnabled,
    },
    entries: {
      statements: entryStatements({ db, unblockedDb }, lease, values),
      values,
      lostClaims: new LostClaims(db, log),
    },
    observe: { log, metrics, failedLooks: new KnownFailures() },
  };
}

const heartbeatSeconds = 5;

/** Tells the scheduler that this worker is alive and how many entries it works on at once, until it is stopped. */
async function announceWorker(
  db: Db,
  log: Logger,
  worker: { destinationType: string; slots: number },
): Promise<{ stop(): Promise<void> }> {
  const id = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`;
  const record = () => recordWorker(db, { id, ...worker });
  await record().catch((error: unknown) =>
    logFailure(log, { error }, 'the worker could not be recorded; will be retried'),
  );
  const heartbeat = every(heartbeatSeconds, 'worker heartbeat', log, record);
  // The deadlines that a worker stores are corrected by sync-control.
  const clock = every(1, 'clock of the database', log, () => advanceClock(db, 'sync'));
  return {
    stop: async () => {
      await heartbeat.stop();
      await clock.stop();
      await forgetWorker(db, id, worker.destinationType).catch(() => undefined); // it is forgotten after 15 s
    },
  };
}

interface WatchedSwitch {
  consumer: Consumer;
  seen: { switch: Switch };
  report: () => Promise<void>;
  log: Logger;
}

/**
 * Stops consuming within a second after syncing is disabled or held, and resumes afterwards. It also stops while the switch
 * cannot be read: without the database, messages would only be requeued until they are dead-lettered.
 */
function watchSwitch(db: Db, { consumer, seen, report, log }: WatchedSwitch): Repeated {
  let applied: Switch = 'enabled';
  return every(switchPollSeconds, 'sync switch', log, async () => {
    const now = await readSwitch(db, report);
    seen.switch = now; // at once: what was claimed already is not called
    if (now === applied) return;
    await (now === 'enabled' ? consumer.resume() : consumer.pause());
    log.info({ from: applied, to: now }, 'sync switch changed');
    applied = now;
  });
}

type Switch = 'enabled' | NonNullable<SyncState['stoppedBecause']> | 'unreadable';

const readSwitch = (db: Db, report: () => Promise<void>): Promise<Switch> =>
  report()
    .then(() => readSyncConfig(db))
    .then(
      ({ stoppedBecause }) => stoppedBecause ?? 'enabled',
      () => 'unreadable',
    );
