import { cloudCSm } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: cloudCSm.type,
  maxValueBytes: cloudCSm.maxValueBytes,
  takesEmptyValue: cloudCSm.takesEmptyValue,
  supportsTags: cloudCSm.supportsTags,
  changesOutside: ['value', 'labels', 'disabled', 'deleted'],
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
