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
  changesOutside: {
    value: { belongs: 'own', isUntouched: false, value: 'different' },
    branch: { belongs: 'own', isUntouched: false, value: 'different' },
    environments: { belongs: 'own', isUntouched: false, value: 'different' },
    name: { exists: false },
    comment: { belongs: 'own', isUntouched: false, value: 'same' },
    deleted: { exists: false },
    recreated: { belongs: 'none', isUntouched: false, value: 'different' },
  },
  pushedSetting: { settings: { deployment_environments: ['production'] }, tags: { target: 'production' } },
  writesOutside: {
    deleted: ['editProjectEnv', 'createProjectEnv'],
    recreated: ['editProjectEnv', 'editProjectEnv'],
    value: ['editProjectEnv'],
  },
  leavesOutside: {
    recreated: { kind: 'conflict', because: 'it is the secret of somebody else' },
  },
  start: (canary) => startHarness({ projects: [large] }, { canary }),
});
