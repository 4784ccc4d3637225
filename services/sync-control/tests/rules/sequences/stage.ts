import { randomBytes } from 'node:crypto';
import { createPolicyReader, reportingRowGuard } from '@secrets/access';
import { openMemoryTestBroker } from '@secrets/broker/testing';
import { readConfig } from '@secrets/config';
import { type Db, openPostgres } from '@secrets/db';
import type { TestDb } from '@secrets/db/testing';
import { internalClient } from '@secrets/http';
import { serveForTest, type TestService, testKeys } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { createSecrets } from '@secrets/secrets';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { z } from 'zod';
import { createSyncControl } from '../../../src/app.ts';
import type { FollowContext } from '../../../src/changes/on-secret-change.ts';
import { secretsClient } from '../../../src/changes/secrets-client.ts';
import { syncControlEnv } from '../../../src/config.ts';
import type { Context } from '../../../src/context.ts';
import { queueRoom } from '../../../src/queue/queue-room.ts';
import { waitForArrival } from '../../../src/queue/wait-for-arrival.ts';
import { waitForOutcome } from '../../../src/queue/wait-for-outcome.ts';

/**
 * sync-control and the secrets service on one database. Their requests are served, and their tasks in the background do not run:
 * a sequence takes their steps.
 */
export interface Stage {
  db: TestDb;
  /** Calls sync-control as the gateway does. */
  control: TestService['call'];
  /** Calls the secrets service as the gateway does. */
  secrets: TestService['call'];
  /** Makes the context of another process of sync-control; its tasks run their statements on `db`. */
  process(db?: Db): FollowContext;
  /** Deletes everything that a sequence has left. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

/** Small enough that a few secrets are held by the brake. */
const brake = { limits: { minEntries: 3, share: 0.5 }, log: silentLogger() };

const leftovers = `
  delete from sync.destinations;
  delete from sync.events;
  delete from secrets.outbox;
  delete from secrets.events;
  delete from secrets.secrets;
  delete from secrets.mounts;
  delete from login.policies;
  delete from login.entities;
  delete from login.tokens;
  update sync.reconciliation set started_at = now(), leased_until = '-infinity', running = false,
    position = '00000000-0000-0000-0000-000000000000';
  update sync.config set disabled = default, queue_capacity = default`;

export async function startStage(): Promise<Stage> {
  const db = await openTestDb();
  const broker = await openMemoryTestBroker();
  const keys = testKeys();
  const keyRing = parseKeyRing(`k1:${randomBytes(32).toString('base64')} bound`, 'test');
  const log = silentLogger();
  const metrics = () => createMetrics('test', { processMetrics: false });
  const backgroundDb = openPostgres({ url: db.url });
  const shared = { db, broker, keyRing, keys, log };
  const secrets = await serveForTest(createSecrets({ ...shared, metrics: metrics() }).app, 'secrets', keys);
  const config = { secretsUrl: secrets.url, settings: readConfig(z.object(syncControlEnv), {}) };
  const syncControl = createSyncControl({ ...shared, metrics: metrics() }, config);
  const control = await serveForTest(syncControl.app, 'sync-control', keys);
  const direction = { from: 'sync-control', to: 'secrets', url: secrets.url, keys };
  const client = secretsClient(internalClient(direction), () => '');
  const policies = createPolicyReader({ db, rows: reportingRowGuard({ log, metrics: metrics() }) });
  const queue: Context['queue'] = {
    room: queueRoom(backgroundDb),
    notify: () => undefined,
    lookSoon: async () => undefined,
    outcome: waitForOutcome(backgroundDb),
    arrival: waitForArrival(backgroundDb),
    publish: async () => undefined,
    budgets: {},
    deadLetters: broker,
  };
  return {
    db,
    control: control.call,
    secrets: secrets.call,
    process: (own = backgroundDb) => ({
      context: { db: own, keyRing, secrets: client, policies, queue, prefix: '' },
      log,
      brake,
    }),
    reset: () => db.transaction((tx) => tx.script(leftovers)),
    stop: async () => {
      for (const { stop } of [control, syncControl, secrets]) await stop();
      await client.close();
      await broker.close();
      await backgroundDb.close();
      await db.close();
    },
  };
}
