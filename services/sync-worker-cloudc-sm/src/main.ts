import { runWorker } from '@secrets/sync-worker';
import { Env } from './config.ts';
import { cloudcSmDriver } from './driver.ts';

await runWorker('sync-worker-cloudc-sm', Env, (env) =>
  cloudcSmDriver({
    endpointUrl: env.CLOUDC_ENDPOINT_URL,
    credentialsFile: env.GOOGLE_APPLICATION_CREDENTIALS,
    metadataHost: env.GCE_METADATA_HOST,
  }),
);
