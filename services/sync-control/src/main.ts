import { openRabbit } from '@secrets/broker';
import { readInternalKeys } from '@secrets/caller';
import { readConfig, withFiles } from '@secrets/config';
import { openPostgres, prepareSchema } from '@secrets/db';
import { runProcess, startServer, stopInOrder } from '@secrets/http';
import { schemas } from '@secrets/schemas';
import { readKeyRing } from '@secrets/seal';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { createSyncControl } from './app.ts';
import { Env } from './config.ts';

const service = 'sync-control';
const log = createLogger({ service, level: process.env.LOG_LEVEL ?? 'info' });

await runProcess(log, async () => {
  const env = readConfig(Env, withFiles(process.env));
  const db = openPostgres({ url: env.DATABASE_URL, applicationName: service });
  await prepareSchema(db, schemas.sync, log);
  const broker = openRabbit({ url: env.AMQP_URL, log });
  const app = createSyncControl(
    {
      db,
      broker,
      keyRing: readKeyRing(env.SEAL_KEY_FILE),
      keys: readInternalKeys(env.INTERNAL_KEY_FILE),
      log,
      metrics: createMetrics(service),
    },
    {
      prefix: env.SECRET_NAME_PREFIX,
      reconcileSeconds: env.RECONCILE_SECONDS,
      sweep: { everySeconds: env.SWEEP_SECONDS, lostAfterSeconds: env.LOST_AFTER_SECONDS },
      secretsUrl: env.SECRETS_URL,
    },
  );
  await app.start();
  const server = await startServer(app.app, { host: env.HOST, port: env.PORT });
  log.info({ url: server.url }, 'ready');
  return stopInOrder(
    () => server.stop(10_000),
    app.stop,
    () => broker.close(),
    db.close,
  );
});
