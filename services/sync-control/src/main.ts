import { openRabbit } from '@secrets/broker';
import { readInternalKeys } from '@secrets/caller';
import { databasePreparation, migrateSchema, openPostgres } from '@secrets/db';
import { openKeysOfService } from '@secrets/key-service';
import { schemas } from '@secrets/schemas';
import { openInternalTls, runService, serveBehindGateway } from '@secrets/service';
import { backgroundConnections, createSyncControl } from './app.ts';
import { Env, toConfig } from './config.ts';

await runService('sync-control', Env, async (started) => {
  const { env, log, metrics, onStop } = started;
  const url = env.DATABASE_URL;
  const db = openPostgres({ url, applicationName: 'sync-control' });
  onStop(db.close);
  const backgroundDb = openPostgres({
    url,
    connections: backgroundConnections,
    lockTimeoutMs: 10_000,
    applicationName: 'sync-control background',
  });
  onStop(backgroundDb.close);
  const broker = openRabbit({ url: env.AMQP_URL, log });
  onStop(() => broker.close());
  const { keyRing, rowKeys } = await openKeysOfService(started);
  const keys = readInternalKeys(db, env.INTERNAL_KEY_FILE);
  const tls = await openInternalTls(started);
  const deps = { db, backgroundDb, broker, keyRing, keys, rowKeys, tls, log, metrics };
  const syncControl = createSyncControl(deps, toConfig(env));
  const preparation = databasePreparation(() => migrateSchema(db, schemas.sync, log));
  await serveBehindGateway(syncControl, started, { preparation, tls });
});
