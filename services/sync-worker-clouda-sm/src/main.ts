import { runWorker } from '@secrets/sync-worker';
import { Env } from './config.ts';
import { cloudaSmDriver } from './driver.ts';

await runWorker('sync-worker-clouda-sm', Env, (env) =>
  cloudaSmDriver({
    endpointUrl: env.CLOUDA_ENDPOINT_URL,
    defaultRegion: env.AWS_REGION ?? env.AWS_DEFAULT_REGION,
    sharesIdentity: env.CLOUDA_WORKER_IDENTITY === 'all',
  }),
);
