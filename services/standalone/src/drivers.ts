import { cloudASm, cloudBKv, cloudCSm, codehost, webhostProject } from '@secrets/destinations';
import type { Sandbox } from '@secrets/sandbox';
import type { Driver } from '@secrets/sync-worker';
import type { Env } from './config.ts';

/** The driver of each destination type, whose endpoint is the operator's or, if there is none, the sandbox's. */
export const driversOf = (env: Env, sandbox: Sandbox | undefined): Driver[] => [
  onDemand(cloudASm.type, async () => {
    const { cloudaSmDriver } = await import('@secrets/sync-worker-clouda-sm');
    return cloudaSmDriver({
      endpointUrl: env.CLOUDA_ENDPOINT_URL ?? sandbox?.cloudAUrl,
      defaultRegion: env.AWS_REGION,
      sharesIdentity: env.CLOUDA_WORKER_IDENTITY === 'all',
    });
  }),
  onDemand(cloudBKv.type, async () => {
    const { cloudbKvDriver } = await import('@secrets/sync-worker-cloudb-kv');
    return cloudbKvDriver({
      endpointUrl: env.CLOUDB_ENDPOINT_URL ?? sandbox?.cloudBUrl,
      authorityUrl: env.CLOUDB_AUTHORITY_URL ?? sandbox?.directoryUrl,
    });
  }),
  onDemand(cloudCSm.type, async () => {
    const { cloudcSmDriver } = await import('@secrets/sync-worker-cloudc-sm');
    return cloudcSmDriver({
      endpointUrl: env.CLOUDC_ENDPOINT_URL ?? sandbox?.cloudCUrl,
      credentialsFile: env.GOOGLE_APPLICATION_CREDENTIALS,
      metadataHost: env.GCE_METADATA_HOST,
    });
  }),
  onDemand(codehost.type, async () => {
    const { codehostDriver } = await import('@secrets/sync-worker-codehost');
    return codehostDriver({ endpointUrl: env.CODEHOST_ENDPOINT_URL ?? sandbox?.codehostUrl });
  }),
  onDemand(webhostProject.type, async () => {
    const { webhostProjectDriver } = await import('@secrets/sync-worker-webhost-project');
    return webhostProjectDriver({ endpointUrl: env.WEBHOST_ENDPOINT_URL ?? sandbox?.webhostUrl });
  }),
];

/**
 * A driver that is loaded, together with the provider's SDK, when a destination of its type is first connected: the
 * SDKs take more memory and more of the start than a service.
 */
function onDemand(type: string, load: () => Promise<Driver>): Driver {
  let driver: Promise<Driver> | undefined;
  return {
    type,
    async connect(destination, context) {
      driver ??= load().catch((error: unknown) => {
        driver = undefined; // the next attempt may succeed
        throw error;
      });
      return (await driver).connect(destination, context);
    },
  };
}
