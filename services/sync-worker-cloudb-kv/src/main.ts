import { runWorker } from '@secrets/sync-worker';
import { Env } from './config.ts';
import { cloudbKvDriver } from './driver.ts';

await runWorker('sync-worker-cloudb-kv', Env, (env) =>
  cloudbKvDriver({ endpointUrl: env.CLOUDB_ENDPOINT_URL, authorityUrl: env.CLOUDB_AUTHORITY_URL }),
);
