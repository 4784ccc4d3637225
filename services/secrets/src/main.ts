import { openRabbit } from '@secrets/broker';
import { readInternalKeys } from '@secrets/caller';
import { readConfig, withFiles } from '@secrets/config';
import { openPostgres, prepareSchema } from '@secrets/db';
import { runProcess, startServer, stopInOrder } from '@secrets/http';
import { schemas } from '@secrets/schemas';
import { readKeyRing } from '@secrets/seal';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { createSecrets } from './app.ts';
import { Env } from './config.ts';

const service = 'secrets';
const log = createLogger({ service, level: process.env.LOG_LEVEL ?? 'info' });

await runProcess(log, async () => {
  const env = readConfig(Env, withFiles(process.env));
  const db = openPostgres({ url: env.DATABASE_URL, applicationName: service });
  await prepareSchema(db, schemas.secrets, log);
  const broker = openRabbit({ url: env.AMQP_URL, log });
  const secrets = await createSecrets(
    {
      db,
      broker,
      keyRing: readKeyRing(env.SEAL_KEY_FILE),
      keys: readInternalKeys(env.INTERNAL_KEY_FILE),
      log,
      metrics: createMetrics(service),
    },
    { sweepSeconds: env.SWEEP_SECONDS },
  );
  await secrets.start();
  const server = await startServer(secrets.app, { host: env.HOST, port: env.PORT });
  log.info({ url: server.url }, 'ready');
  return stopInOrder(
    () => server.stop(10_000),
    secrets.stop,
    () => broker.close(),
    db.close,
  );
});
