import { cloudASm } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: cloudASm.type,
  maxValueBytes: cloudASm.maxValueBytes,
  takesEmptyValue: cloudASm.takesEmptyValue,
  supportsTags: cloudASm.supportsTags,
  changesOutside: ['value', 'tags', 'deleted'],
  writesUnseen: true,
  start: (canary) => startHarness({}, { canary }),
});
