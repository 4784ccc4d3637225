import { openRabbit } from '@secrets/broker';
import { readInternalKeys } from '@secrets/caller';
import { openPostgres, prepareSchema } from '@secrets/db';
import { schemas } from '@secrets/schemas';
import { readKeyRing } from '@secrets/seal';
import { runService, serve } from '@secrets/service';
import { createSyncControl } from './app.ts';
import { Env, toConfig } from './config.ts';

await runService('sync-control', Env, async ({ env, log, metrics, onStop }) => {
  const db = openPostgres({ url: env.DATABASE_URL, applicationName: 'sync-control' });
  onStop(db.close);
  await prepareSchema(db, schemas.sync, log);
  const broker = openRabbit({ url: env.AMQP_URL, log });
  onStop(() => broker.close());
  const keyRing = readKeyRing(env.SEAL_KEY_FILE);
  const keys = readInternalKeys(env.INTERNAL_KEY_FILE);
  const syncControl = createSyncControl({ db, broker, keyRing, keys, log, metrics }, toConfig(env));
  await serve(syncControl, { host: env.HOST, port: env.PORT }, { log, onStop });
});
