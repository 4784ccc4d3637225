import { openRabbit } from '@secrets/broker';
import { openPostgres } from '@secrets/db';
import { operatorRoutes, runProcess, startServer, stopInOrder } from '@secrets/http';
import { readKeyRing } from '@secrets/seal';
import { createLogger, createMetrics } from '@secrets/telemetry';
import express from 'express';
import type { Driver } from '../driver/driver.ts';
import { createEgressGuard } from '../egress/egress-guard.ts';
import { createSyncWorker } from './sync-worker.ts';
import type { WorkerEnv } from './worker-env.ts';

/** Runs the process of a worker. Only the driver and its settings differ between destination types. */
export async function runWorker(
  service: string,
  configure: () => { env: WorkerEnv; driver: Driver },
): Promise<void> {
  const log = createLogger({ service, level: process.env.LOG_LEVEL ?? 'info' });
  await runProcess(log, async () => {
    const { env, driver } = configure();
    const metrics = createMetrics(service);
    const db = openPostgres({ url: env.DATABASE_URL, applicationName: service });
    const broker = openRabbit({ url: env.AMQP_URL, log });
    const keyRing = readKeyRing(env.SEAL_KEY_FILE);
    const egress = createEgressGuard({ allow: env.EGRESS_ALLOW, mayOpen: env.EGRESS_MAY_OPEN });
    const worker = createSyncWorker(
      driver,
      { db, broker, keyRing, egress, log, metrics },
      { concurrency: env.CONCURRENCY, leaseSeconds: env.LEASE_SECONDS, prefix: env.SECRET_NAME_PREFIX },
    );
    await worker.start();
    const app = express();
    operatorRoutes(app, {
      metrics,
      readiness: {
        database: async () => void (await db.query('select 1')),
        broker: async () => {
          if (broker.state() !== 'connected') throw new Error('not connected to the broker');
        },
      },
    });
    const server = await startServer(app, { host: env.HOST, port: env.INTERNAL_PORT });
    log.info({ url: server.url }, 'ready');
    return stopInOrder(
      worker.stop,
      () => server.stop(2_000),
      () => broker.close(),
      db.close,
    );
  });
}
