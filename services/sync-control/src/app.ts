import { randomUUID } from 'node:crypto';
import { createPolicyReader, reportingRowGuard } from '@secrets/access';
import type { Broker, Consumer } from '@secrets/broker';
import { type InternalKeys, signPermit } from '@secrets/caller';
import { checkDatabase, type Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { secretChangesQueue, syncQueue } from '@secrets/domain';
import { type InternalTls, internalClient, type Service, serviceApp } from '@secrets/http';
import type { Budget } from '@secrets/scheduler';
import type { KeyRing } from '@secrets/seal';
import { SealRotation, sealRotationEndpoints } from '@secrets/seal-rotation';
import { type Logger, type Metrics, traced } from '@secrets/telemetry';
import { type FollowContext, onSecretChange } from './changes/on-secret-change.ts';
import { type SecretsClient, secretsClient } from './changes/secrets-client.ts';
import { brakeOf, installationOf, type SyncControlConfig, type SyncControlSettings } from './config.ts';
import type { Context, Queue } from './context.ts';
import { lookSoon } from './destinations/background/looks/look-soon.ts';
import { sealedTables } from './destinations/sealed-tables.ts';
import { EventFeed } from './events/event-feed.ts';
import { type SyncMetrics, syncMetrics } from './metrics/sync-metrics.ts';
import { keepInstallation } from './queue/keep-installation.ts';
import { queueRoom } from './queue/queue-room.ts';
import { type Scheduler, startScheduler } from './queue/scheduler.ts';
import { waitForArrival } from './queue/wait-for-arrival.ts';
import { waitForOutcome } from './queue/wait-for-outcome.ts';
import { repeated, statementTasks } from './repeated-tasks.ts';
import { allEndpoints } from './routes/all.ts';

export { syncControlEnv } from './config.ts';
export { restartBackgroundWork } from './queries/destinations/restart-background-work.ts';

export interface SyncControlDeps {
  db: Db;
  /** For background work, which must not wait for the connections of requests; default `db`. */
  backgroundDb?: Db;
  broker: Broker;
  keyRing: KeyRing;
  keys: InternalKeys;
  /** Undefined if rows of the database are not protected. */
  rowKeys?: KeyRing | undefined;
  /** For calls of `secrets`. */
  tls?: InternalTls | undefined;
  log: Logger;
  metrics: Metrics;
}

/** Creates the service: its endpoints, its scheduler, and its background tasks. */
export function createSyncControl(deps: SyncControlDeps, config: SyncControlConfig): Service {
  const { db, backgroundDb = db, broker, keyRing, keys, log, metrics } = deps;
  const { settings } = config;
  const secrets = openSecrets(config, deps);
  let scheduler: Scheduler | undefined;
  const budgets = budgetsOf(settings.BUDGETS);
  const queue: Queue = {
    notify: (destinationType) => scheduler?.notify(destinationType),
    lookSoon: (destinationType) => lookSoon({ db, queue }, log, destinationType),
    ...inDatabase(db),
    budgets,
    deadLetters: broker,
    publish: (type, message) => broker.publish(syncQueue(type), [message]),
  };
  const rows = reportingRowGuard(deps);
  const policies = createPolicyReader({ db, rows });
  const events = new EventFeed({ db, backgroundDb, rows, log });
  const context: Context = { db, keyRing, secrets, policies, queue, prefix: settings.SECRET_NAME_PREFIX };
  const rotation = new SealRotation({ db: backgroundDb, schema: 'sync', tables: sealedTables, keyRing, log });
  const app = serviceApp({
    service: 'sync-control',
    endpoints: [...allEndpoints(context, events, installationOf(config)), ...sealRotationEndpoints(rotation)],
    keys,
    log,
    metrics,
    ...dependencies(db, broker),
  });
  let background: { stop(): Promise<void> }[] = [];
  return {
    app,
    start: async () => {
      const rotating = await rotation.start();
      await keepInstallation(backgroundDb, installationOf(config)); // before anything is sent to a worker
      scheduler = startScheduler({ db: backgroundDb, broker, log, budgets });
      const observed = syncMetrics(metrics);
      const following = createFollowing({ context: { ...context, db: backgroundDb }, log, observed }, config);
      background = [rotating, await followChanges(following, broker)];
      background.push(...repeated({ following, events, broker, observed, metrics }, config), scheduler);
    },
    stop: async () => {
      for (const part of background) await part.stop();
      await secrets.close();
    },
  };
}

function openSecrets(
  { secretsUrl: url }: SyncControlConfig,
  { keys, tls }: Pick<SyncControlDeps, 'keys' | 'tls'>,
): SecretsClient {
  const direction = { from: 'sync-control', to: 'secrets' };
  return secretsClient(internalClient({ ...direction, url, keys, tls }), (caller, text) =>
    signPermit(keys, direction, caller, text),
  );
}

const inDatabase = (db: Db) => ({
  room: queueRoom(db),
  outcome: waitForOutcome(db),
  arrival: waitForArrival(db),
});

/** Readiness checks. A lost broker stops background work only, and does not make the service unready. */
const dependencies = (db: Db, broker: Broker) => ({
  readiness: {
    database: () => checkDatabase(db),
    broker: async () => {
      if (broker.state() !== 'connected') throw new Error('the broker cannot be reached');
    },
  },
  background: ['broker'],
  databaseTime: db.now,
});

/** The budget of each known type: its own, unless the operator sets another one. */
const budgetsOf = (set: SyncControlSettings['BUDGETS'] = {}): Record<string, Budget> =>
  Object.fromEntries(
    Object.values(destinationTypes).map(({ type, budget }) => {
      const perSecond = set[type];
      return [
        type,
        perSecond === undefined ? budget : { ...budget, perSecond, burst: Math.max(1, perSecond) },
      ];
    }),
  );

const changesConcurrency = 8;

/** Statements of the scheduler of a type at the same time: one that admits entries, and one that records what was published. */
const perScheduledType = 2;

/** Connections with which no task in the background waits for another: for each change, scheduled type and repeated task. */
export const backgroundConnections =
  changesConcurrency + perScheduledType * Object.keys(destinationTypes).length + statementTasks.length;

const followChanges = (following: FollowContext, broker: Broker): Promise<Consumer> =>
  broker.consume(secretChangesQueue, { concurrency: changesConcurrency }, (message, { traceparent }) =>
    traced(
      () => ({ name: 'follow secret', kind: 'consumer', parent: traceparent }),
      () => onSecretChange(following, message, randomUUID()),
    ),
  );

const createFollowing = (
  { context, log, observed }: { context: Context; log: Logger; observed: SyncMetrics },
  { settings }: SyncControlConfig,
): FollowContext => ({
  context,
  log,
  brake: { limits: brakeOf(settings), log },
  failures: observed.followFailures,
  counts: observed.rules,
});
