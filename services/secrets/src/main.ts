import { existsSync } from 'node:fs';
import { openRabbit } from '@secrets/broker';
import { readInternalKeys } from '@secrets/caller';
import { databasePreparation, migrateSchema, openPostgres } from '@secrets/db';
import { openKeysOfService } from '@secrets/key-service';
import { schemas } from '@secrets/schemas';
import { openInternalTls, runService, serveBehindGateway } from '@secrets/service';
import { createSecrets } from './app.ts';
import { Env } from './config.ts';

await runService('secrets', Env, async (started) => {
  const { env, log, metrics, onStop } = started;
  const url = env.DATABASE_URL;
  const db = openPostgres({ url, applicationName: 'secrets' });
  onStop(db.close);
  const backgroundDb = openPostgres({ url, connections: 5, applicationName: 'secrets background' });
  onStop(backgroundDb.close);
  const broker = openRabbit({ url: env.AMQP_URL, log });
  onStop(() => broker.close());
  const { keyRing, rowKeys } = await openKeysOfService(started);
  const workerKeys = env.WORKER_KEY_FILE;
  const hasWorkerKeys = workerKeys !== undefined && existsSync(workerKeys);
  if (workerKeys !== undefined && !hasWorkerKeys)
    // of an older installation
    log.warn({ keyFile: workerKeys }, 'the keys of the workers are missing, so nothing can be imported');
  const keys = readInternalKeys(db, env.INTERNAL_KEY_FILE, ...(hasWorkerKeys ? [workerKeys] : []));
  const secrets = createSecrets(
    { db, backgroundDb, broker, keyRing, keys, rowKeys, log, metrics },
    { sweepSeconds: env.SWEEP_SECONDS },
  );
  const preparation = databasePreparation(() => migrateSchema(db, schemas.secrets, log));
  await serveBehindGateway(secrets, started, { preparation, tls: await openInternalTls(started) });
});
