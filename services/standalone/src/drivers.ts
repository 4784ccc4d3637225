import type { Sandbox } from '@secrets/sandbox';
import type { Driver } from '@secrets/sync-worker';
import { cloudaSmDriver } from '@secrets/sync-worker-clouda-sm';
import { cloudcSmDriver } from '@secrets/sync-worker-cloudc-sm';
import type { Env } from './config.ts';

/** The driver of each destination type, whose endpoint is the operator's or, if there is none, the sandbox's. */
export const driversOf = (env: Env, sandbox: Sandbox | undefined): Driver[] => [
  cloudaSmDriver({
    endpointUrl: env.CLOUDA_ENDPOINT_URL ?? sandbox?.cloudAUrl,
    defaultRegion: env.AWS_REGION,
  }),
  cloudcSmDriver({
    endpointUrl: env.CLOUDC_ENDPOINT_URL ?? sandbox?.cloudCUrl,
    credentialsFile: env.GOOGLE_APPLICATION_CREDENTIALS,
    metadataHost: env.GCE_METADATA_HOST,
  }),
];
