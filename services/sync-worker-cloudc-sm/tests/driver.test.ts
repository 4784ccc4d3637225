import { cloudCSm } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: cloudCSm.type,
  maxValueBytes: cloudCSm.maxValueBytes,
  takesEmptyValue: cloudCSm.takesEmptyValue,
  supportsTags: cloudCSm.supportsTags,
  changesOutside: ['value', 'labels', 'disabled', 'deleted'],
  start: (canary) => startHarness({}, { canary }),
});
