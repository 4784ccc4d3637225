import { randomUUID } from 'node:crypto';
import { createPolicyReader } from '@secrets/access';
import { every, type Repeated } from '@secrets/background';
import type { Broker, Consumer, Relay } from '@secrets/broker';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { secretChangesQueue } from '@secrets/domain';
import { type Endpoint, internalClient, type Service, serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Logger, Metrics } from '@secrets/telemetry';
import { startEntriesRelay, sweepLostEntries } from './announcements.ts';
import type { SyncControlConfig } from './config.ts';
import type { Context } from './context.ts';
import { type Following, onSecretChange } from './on-secret-change.ts';
import { advancePurges } from './purge.ts';
import { queueRoom } from './queue-room.ts';
import { reconcile } from './reconcile.ts';
import * as associations from './routes/associations.ts';
import * as bySecret from './routes/associations-by-secret.ts';
import * as destinations from './routes/destinations.ts';
import * as syncConfig from './routes/sync-config.ts';
import { secretsClient } from './secrets-client.ts';
import { waitForOutcome } from './wait-for-outcome.ts';

export interface SyncControlDeps {
  db: Db;
  broker: Broker;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
}

/** Builds sync-control: its endpoints, its relay, the sweep, purges and the reconciliation. */
export function createSyncControl(
  deps: SyncControlDeps,
  config: SyncControlConfig & { secretsUrl: string },
): Service {
  const { db, broker, keyRing, keys, log, metrics } = deps;
  const secrets = secretsClient(
    internalClient({ from: 'sync-control', to: 'secrets', url: config.secretsUrl, keys }),
  );
  let relay: Relay | undefined;
  const queue = { room: queueRoom(db), notify: () => relay?.notify(), outcome: waitForOutcome(db) };
  const context: Context = {
    db,
    keyRing,
    secrets,
    policies: createPolicyReader({ db }),
    queue,
    prefix: config.prefix,
  };
  const app = serviceApp({
    service: 'sync-control',
    endpoints: endpointsOf(context),
    keys,
    log,
    metrics,
    readiness: {
      database: async () => void (await db.query('select 1')),
      broker: async () => {
        if (broker.state() !== 'connected') throw new Error('the broker cannot be reached');
      },
    },
  });
  let background: { stop(): Promise<void> }[] = [];
  return {
    app,
    start: async () => {
      relay = startEntriesRelay(db, broker, log);
      const changes = await followChanges({ context, log }, broker);
      background = [changes, ...repeated({ context, broker, log }, config), relay];
    },
    stop: async () => {
      for (const part of background) await part.stop();
      await secrets.close();
    },
  };
}

const endpointsOf = (context: Context): Endpoint[] =>
  [associations, bySecret, destinations, syncConfig]
    .flatMap((routes) => Object.values(routes))
    .map((route) => route(context))
    .sort((a, b) => wildcards(a) - wildcards(b));

/** Fixed paths before those with variables, so that `…/associations/destinations` is not taken for a mount. */
const wildcards = ({ path }: Endpoint): number => (path.match(/[:*]/g) ?? []).length;

const followChanges = (following: Following, broker: Broker): Promise<Consumer> =>
  broker.consume(secretChangesQueue, { concurrency: 8 }, (message) =>
    onSecretChange(following, message, randomUUID()),
  );

const defaultSweep = { everySeconds: 10, lostAfterSeconds: 60 };

function repeated(
  { context, broker, log }: { context: Context; broker: Broker; log: Logger },
  { reconcileSeconds, sweep = defaultSweep }: SyncControlConfig,
): Repeated[] {
  const { db } = context;
  return [
    every(sweep.everySeconds, 'sweep', log, () =>
      sweepLostEntries({ db, broker, log }, sweep.lostAfterSeconds),
    ),
    every(1, 'purge', log, (isStopping) => advancePurges(db, isStopping)),
    every(reconcileSeconds, 'reconcile', log, (isStopping) => reconcile({ context, log }, isStopping)),
  ];
}
