import { openRabbit } from '@secrets/broker';
import { readInternalKeys } from '@secrets/caller';
import { databasePreparation, migrateSchema, openPostgres } from '@secrets/db';
import { internalHeaderBytes } from '@secrets/http';
import { schemas } from '@secrets/schemas';
import { openKeyFile } from '@secrets/seal';
import { reloadFiles, runService, serve } from '@secrets/service';
import { createSecrets } from './app.ts';
import { Env } from './config.ts';

await runService('secrets', Env, async ({ env, log, metrics, onStop }) => {
  const url = env.DATABASE_URL;
  const db = openPostgres({ url, applicationName: 'secrets' });
  onStop(db.close);
  const backgroundDb = openPostgres({ url, connections: 5, applicationName: 'secrets background' });
  onStop(backgroundDb.close);
  const broker = openRabbit({ url: env.AMQP_URL, log });
  onStop(() => broker.close());
  const keyRing = openKeyFile(env.SEAL_KEY_FILE);
  reloadFiles({ log, onStop }, { what: 'the seal keys', files: [env.SEAL_KEY_FILE], reload: keyRing.reload });
  const keys = readInternalKeys(db, env.INTERNAL_KEY_FILE);
  const secrets = createSecrets(
    { db, backgroundDb, broker, keyRing, keys, log, metrics },
    { sweepSeconds: env.SWEEP_SECONDS },
  );
  await serve(
    secrets,
    { host: env.HOST, port: env.PORT, maxHeaderBytes: internalHeaderBytes },
    { log, onStop },
    {
      drainSeconds: env.DRAIN_SECONDS,
      preparation: databasePreparation(() => migrateSchema(db, schemas.secrets, log)),
    },
  );
});
