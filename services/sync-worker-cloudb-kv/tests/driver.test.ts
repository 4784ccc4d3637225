import { cloudBKv } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: cloudBKv.type,
  maxValueBytes: cloudBKv.maxValueBytes,
  takesEmptyValue: cloudBKv.takesEmptyValue,
  supportsTags: cloudBKv.supportsTags,
  changesOutside: ['value', 'tags', 'disabled', 'deleted'],
  start: (canary) => startHarness({}, { canary }),
});
