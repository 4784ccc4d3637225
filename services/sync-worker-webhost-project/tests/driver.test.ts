import { webhostProject } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: webhostProject.type,
  maxValueBytes: webhostProject.maxValueBytes,
  takesEmptyValue: webhostProject.takesEmptyValue,
  supportsTags: webhostProject.supportsTags,
  showsOwner: true,
  recordsStart: true,
  mayWriteTwice: true,
  changesOutside: ['value', 'branch', 'environments', 'name', 'deleted'],
  start: (canary) => startHarness({}, { canary }),
});
