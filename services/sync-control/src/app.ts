import { randomUUID } from 'node:crypto';
import { createPolicyReader } from '@secrets/access';
import { every, type Repeated } from '@secrets/background';
import type { Broker, Consumer } from '@secrets/broker';
import type { InternalKeys } from '@secrets/caller';
import { checkDatabase, type Db } from '@secrets/db';
import { destinationTypes } from '@secrets/destinations';
import { secretChangesQueue, syncQueue } from '@secrets/domain';
import { internalClient, type Service, serviceApp } from '@secrets/http';
import type { Budget } from '@secrets/scheduler';
import type { KeyRing } from '@secrets/seal';
import { SealRotation, sealRotationEndpoints } from '@secrets/seal-rotation';
import { type Logger, type Metrics, traced } from '@secrets/telemetry';
import { removeApproved } from './changes/approved-removals.ts';
import { type Following, onSecretChange } from './changes/on-secret-change.ts';
import { reconcile } from './changes/reconcile.ts';
import { advanceReconnects } from './codehost-apps/reconnect-users.ts';
import { defaultBrake, defaultLost, type SyncControlConfig } from './config.ts';
import type { Context, Queue } from './context.ts';
import { advanceDestinations } from './destinations/advance-destinations.ts';
import { advanceReplan } from './destinations/replan.ts';
import { sweepChecks } from './destinations/sweep-checks.ts';
import { countEvents } from './events/count-events.ts';
import { EventFeed } from './events/event-feed.ts';
import { EntryCensus } from './metrics/entry-census.ts';
import { measureDeadLetters, measureQueue } from './metrics/measure-queue.ts';
import { type SyncMetrics, syncMetrics } from './metrics/sync-metrics.ts';
import { countHeld } from './queries/removal-brakes.ts';
import { LostEntries } from './queue/lost-entries.ts';
import { queueRoom } from './queue/queue-room.ts';
import { type Scheduler, startScheduler } from './queue/scheduler.ts';
import { waitForOutcome } from './queue/wait-for-outcome.ts';
import { allEndpoints } from './routes/all.ts';
import { sealedTables } from './sealed-tables.ts';
import { secretsClient } from './secrets-client.ts';

export { endBackgroundLeases } from './queries/background-leases.ts';

export interface SyncControlDeps {
  db: Db;
  /** For background work, which must not wait for the connections of requests; default `db`. */
  backgroundDb?: Db;
  broker: Broker;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
}

/** Creates the service: its endpoints, its scheduler, and its background tasks. */
export function createSyncControl(deps: SyncControlDeps, config: SyncControlConfig): Service {
  const { db, backgroundDb = db, broker, keyRing, keys, log, metrics } = deps;
  const secrets = secretsClient(
    internalClient({ from: 'sync-control', to: 'secrets', url: config.secretsUrl, keys }),
  );
  let scheduler: Scheduler | undefined;
  const budgets = budgetsOf(config.budgets);
  const queue: Queue = {
    room: queueRoom(db),
    notify: (destinationType) => scheduler?.notify(destinationType),
    outcome: waitForOutcome(db),
    budgets,
    deadLetters: broker,
    publish: (type, message) => broker.publish(syncQueue(type), [message]),
  };
  const policies = createPolicyReader({ db });
  const events = new EventFeed({ db, backgroundDb, log });
  const context: Context = { db, keyRing, secrets, policies, queue, events, prefix: config.prefix };
  const rotation = new SealRotation({ db: backgroundDb, schema: 'sync', tables: sealedTables, keyRing, log });
  const app = serviceApp({
    service: 'sync-control',
    endpoints: [...allEndpoints(context), ...sealRotationEndpoints(rotation)],
    keys,
    log,
    metrics,
    ...dependencies(db, broker),
  });
  const inBackground: Context = { ...context, db: backgroundDb };
  let background: { stop(): Promise<void> }[] = [];
  return {
    app,
    start: async () => {
      const rotating = await rotation.start();
      scheduler = startScheduler({ db: backgroundDb, broker, log, budgets });
      const observed = syncMetrics(metrics);
      const following = createFollowing({ context: inBackground, log, observed }, config);
      const changes = await followChanges(following, broker);
      background = [rotating, changes, ...repeated(following, { broker, observed }, config), scheduler];
    },
    stop: async () => {
      for (const part of background) await part.stop();
      await secrets.close();
    },
  };
}

/** What has to be there: the broker only for work in the background. */
const dependencies = (db: Db, broker: Broker) => ({
  readiness: {
    database: () => checkDatabase(db),
    broker: async () => {
      if (broker.state() !== 'connected') throw new Error('the broker cannot be reached');
    },
  },
  background: ['broker'],
});

/** The budget of each known type: its own, unless the operator sets another one. */
const budgetsOf = (set: SyncControlConfig['budgets'] = {}): Record<string, Budget> =>
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

/** Tasks with statements that are repeated in the background; see `repeated`. */
const repeatedTasks = 11;

/** Statements of the scheduler of a type at the same time: one that admits entries, and one that records what was published. */
const perScheduledType = 2;

/** Connections with which no task in the background waits for another: for each change, scheduled type and repeated task. */
export const backgroundConnections =
  changesConcurrency + perScheduledType * Object.keys(destinationTypes).length + repeatedTasks;

const followChanges = (following: Following, broker: Broker): Promise<Consumer> =>
  broker.consume(secretChangesQueue, { concurrency: changesConcurrency }, (message, { traceparent }) =>
    traced(
      () => ({ name: 'follow secret', kind: 'consumer', parent: traceparent }),
      () => onSecretChange(following, message, randomUUID()),
    ),
  );

const createFollowing = (
  { context, log, observed }: { context: Context; log: Logger; observed: SyncMetrics },
  { brake = defaultBrake }: SyncControlConfig,
): Following => ({
  context,
  log,
  brake: { limits: brake, log },
  failures: observed.followFailures,
});

const checkSweepSeconds = 30;

/** Prometheus usually scrapes every 15 s. */
const measureSeconds = 10;

/** Maximum seconds between two attempts to start or continue a round of the reconciliation. */
const reconcilePollSeconds = 10;

/** How long an event takes at most to reach those who follow. */
const followSeconds = 0.5;

/** Less than proxies usually wait for data. */
const keepAliveSeconds = 15;

function repeated(
  following: Following,
  { broker, observed }: { broker: Broker; observed: SyncMetrics },
  { reconcileSeconds, lost = defaultLost }: SyncControlConfig,
): Repeated[] {
  const { context, log } = following;
  const { db } = context;
  const lostEntries = new LostEntries({
    db,
    broker,
    log,
    destinationTypes: Object.keys(destinationTypes),
    afterSeconds: lost.afterSeconds,
  });
  const census = new EntryCensus(db, observed);
  return [
    every(lost.sweepSeconds, 'lost announcements', log, async () =>
      observed.found('lost_announcements', await lostEntries.revive()),
    ),
    every(1, 'destinations', log, (isStopping) =>
      advanceDestinations({ db, log, replan: (id) => advanceReplan(following, id) }, isStopping),
    ),
    every(1, 'code-host applications', log, (isStopping) =>
      advanceReconnects({ db, log, queue: context.queue }, isStopping),
    ),
    every(checkSweepSeconds, 'checks', log, async () =>
      observed.found('probes', await sweepChecks({ db, broker, log })),
    ),
    every(1, 'approved removals', log, (isStopping) => removeApproved(following, isStopping)),
    every(Math.min(reconcileSeconds, reconcilePollSeconds), 'reconcile', log, async (isStopping) => {
      observed.found('reconciliation', await reconcile(following, reconcileSeconds, isStopping));
      observed.heldRemovals.set(await countHeld(db));
    }),
    every(measureSeconds, 'queue metrics', log, () => measureQueue(db, observed)),
    every(measureSeconds, 'dead letter metrics', log, () => measureDeadLetters(broker, observed)),
    every(followSeconds, 'events', log, () => context.events.advance()),
    every(keepAliveSeconds, 'streams of events', log, async () => context.events.keepAlive()),
    every(1, 'event counts', log, (isStopping) => countEvents(db, isStopping)),
    every(1, 'entry census', log, () => census.advance()),
  ];
}
