import { readConfig, withFiles } from '@secrets/config';
import { runWorker } from '@secrets/sync-worker';
import { Env } from './config.ts';
import { cloudaSmDriver } from './driver.ts';

await runWorker('sync-worker-clouda-sm', () => {
  const env = readConfig(Env, withFiles(process.env));
  const defaultRegion = env.AWS_REGION ?? env.AWS_DEFAULT_REGION;
  return { env, driver: cloudaSmDriver({ endpointUrl: env.CLOUDA_ENDPOINT_URL, defaultRegion }) };
});
