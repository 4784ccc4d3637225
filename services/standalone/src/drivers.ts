import type { Sandbox } from '@secrets/sandbox';
import type { Driver } from '@secrets/sync-worker';
import { cloudaSmDriver } from '@secrets/sync-worker-clouda-sm';
import { cloudbKvDriver } from '@secrets/sync-worker-cloudb-kv';
import { cloudcSmDriver } from '@secrets/sync-worker-cloudc-sm';
import { codehostDriver } from '@secrets/sync-worker-codehost';
import { webhostProjectDriver } from '@secrets/sync-worker-webhost-project';
import type { Env } from './config.ts';

/** The driver of each destination type, whose endpoint is the operator's or, if there is none, the sandbox's. */
export const driversOf = (env: Env, sandbox: Sandbox | undefined): Driver[] => [
  cloudaSmDriver({
    endpointUrl: env.CLOUDA_ENDPOINT_URL ?? sandbox?.cloudAUrl,
    defaultRegion: env.AWS_REGION,
    sharesIdentity: env.CLOUDA_WORKER_IDENTITY === 'all',
  }),
  cloudbKvDriver({
    endpointUrl: env.CLOUDB_ENDPOINT_URL ?? sandbox?.cloudBUrl,
    authorityUrl: env.CLOUDB_AUTHORITY_URL ?? sandbox?.directoryUrl,
  }),
  cloudcSmDriver({
    endpointUrl: env.CLOUDC_ENDPOINT_URL ?? sandbox?.cloudCUrl,
    credentialsFile: env.GOOGLE_APPLICATION_CREDENTIALS,
    metadataHost: env.GCE_METADATA_HOST,
  }),
  codehostDriver({ endpointUrl: env.CODEHOST_ENDPOINT_URL ?? sandbox?.codehostUrl }),
  webhostProjectDriver({ endpointUrl: env.WEBHOST_ENDPOINT_URL ?? sandbox?.webhostUrl }),
];
