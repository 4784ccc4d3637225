import { runWorker } from '@secrets/sync-worker';
import { Env } from './config.ts';
import { webhostProjectDriver } from './driver.ts';

await runWorker('sync-worker-webhost-project', Env, (env) =>
  webhostProjectDriver({ endpointUrl: env.WEBHOST_ENDPOINT_URL }),
);
