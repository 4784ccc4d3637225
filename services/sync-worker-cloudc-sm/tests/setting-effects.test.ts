import { cloudCSm } from '@secrets/destinations';
import { describeSettings } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

const keyIn = (location: string) => `projects/keys/locations/${location}/keyRings/sandbox/cryptoKeys/sandbox`;

describeSettings({
  description: cloudCSm,
  pushes: {
    custom_tags: { value: { team: 'a' } },
    replication_locations: { value: ['europe-west1'] },
    global_kms_key: { value: keyIn('global') },
    locational_kms_keys: {
      with: { replication_locations: ['europe-west1'] },
      value: { 'europe-west1': keyIn('europe-west1') },
    },
  },
  variants: [
    {
      identity_token_audience: 'api://exchange',
      workload_identity_provider:
        'projects/123456/locations/global/workloadIdentityPools/pool/providers/secrets',
      service_account_email: 'sync@my-project-123.iam.gserviceaccount.com',
    },
  ],
  start: (canary) => startHarness({}, { canary }),
});
