import { cloudASm } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

const role_arn = 'arn:aws:iam::123456789012:role/sync';

describeDriver({
  name: cloudASm.type,
  maxValueBytes: cloudASm.maxValueBytes,
  takesEmptyValue: cloudASm.takesEmptyValue,
  supportsTags: cloudASm.supportsTags,
  changesOutside: ['value', 'tags', 'deleted'],
  writesUnseen: true,
  variants: [
    { role_arn, external_id: 'x-1' },
    { role_arn, identity_token_audience: 'api://exchange' },
  ],
  start: (canary) => startHarness({}, { canary }),
});
