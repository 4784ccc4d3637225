import { webhostProject } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

/** Has room for the largest value beside those of other tests. */
const large = {
  id: 'prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB',
  name: 'large',
  customEnvironmentIds: ['env_staging'],
  maxBytes: 1_048_576,
};

describeDriver({
  name: webhostProject.type,
  maxValueBytes: webhostProject.maxValueBytes,
  takesEmptyValue: webhostProject.takesEmptyValue,
  supportsTags: webhostProject.supportsTags,
  showsOwner: true,
  recordsStart: true,
  mayWriteTwice: true,
  changesOutside: ['value', 'branch', 'environments', 'name', 'deleted'],
  start: (canary) => startHarness({ projects: [large] }, { canary }),
});
