import { runWorker } from '@secrets/sync-worker';
import { Env } from './config.ts';
import { codehostDriver } from './driver.ts';

await runWorker('sync-worker-codehost', Env, (env) =>
  codehostDriver({ endpointUrl: env.CODEHOST_ENDPOINT_URL }),
);
