import { readInternalKeys } from '@secrets/caller';
import { databasePreparation, migrateSchema, openPostgres } from '@secrets/db';
import { openKeysOfService } from '@secrets/key-service';
import { schemas } from '@secrets/schemas';
import { openInternalTls, runService, serveBehindGateway } from '@secrets/service';
import { createLogin, ensureRootToken } from './app.ts';
import { Env, loginMethodConfig } from './config.ts';

await runService('login', Env, async (started) => {
  const { env, log, metrics, onStop } = started;
  const db = openPostgres({ url: env.DATABASE_URL, applicationName: 'login' });
  onStop(db.close);
  const { keyRing, rowKeys } = await openKeysOfService(started);
  const keys = readInternalKeys(
    db,
    env.INTERNAL_KEY_FILE,
    ...(env.WORKER_KEY_FILE === undefined ? [] : [env.WORKER_KEY_FILE]),
  );
  const login = createLogin(
    { db, keyRing, keys, rowKeys, log, metrics },
    { ...loginMethodConfig(env), sweepSeconds: env.TOKEN_SWEEP_SECONDS },
  );
  const preparation = databasePreparation(async () => {
    await migrateSchema(db, schemas.login, log);
    if (env.ROOT_TOKEN_FILE !== undefined) await ensureRootToken(db, { file: env.ROOT_TOKEN_FILE, rowKeys });
  });
  await serveBehindGateway(login, started, { preparation, tls: await openInternalTls(started) });
});
