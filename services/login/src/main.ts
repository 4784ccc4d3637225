import { readInternalKeys } from '@secrets/caller';
import { readConfig, withFiles } from '@secrets/config';
import { openPostgres, prepareSchema } from '@secrets/db';
import { runProcess, startServer, stopInOrder } from '@secrets/http';
import { schemas } from '@secrets/schemas';
import { readKeyRing } from '@secrets/seal';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { createLogin, ensureRootToken } from './app.ts';
import { Env } from './config.ts';

const service = 'login';
const log = createLogger({ service, level: process.env.LOG_LEVEL ?? 'info' });

await runProcess(log, async () => {
  const env = readConfig(Env, withFiles(process.env));
  const db = openPostgres({ url: env.DATABASE_URL, applicationName: service });
  await prepareSchema(db, schemas.login, log);
  if (env.ROOT_TOKEN_FILE !== undefined) await ensureRootToken(db, { file: env.ROOT_TOKEN_FILE });
  const login = await createLogin(
    {
      db,
      keyRing: readKeyRing(env.SEAL_KEY_FILE),
      keys: readInternalKeys(env.INTERNAL_KEY_FILE),
      log,
      metrics: createMetrics(service),
    },
    { authorityUrl: env.CLOUDB_AUTHORITY_URL, sweepSeconds: env.TOKEN_SWEEP_SECONDS },
  );
  await login.start();
  const server = await startServer(login.app, { host: env.HOST, port: env.PORT });
  log.info({ url: server.url }, 'ready');
  return stopInOrder(() => server.stop(10_000), login.stop, db.close);
});
