import { cloudASm } from '@secrets/destinations';
import { describeSettings } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

const role_arn = 'arn:aws:iam::123456789012:role/sync';

describeSettings({
  description: cloudASm,
  pushes: {
    custom_tags: { value: { team: 'a' } },
    kms_key_id: { value: 'alias/sandbox' },
    replica_regions: { value: ['eu-west-1'] },
  },
  variants: [
    { role_arn, external_id: 'x-1' },
    { role_arn, identity_token_audience: 'api://exchange' },
  ],
  start: (canary) => startHarness({}, { canary }),
});
