import { cloudASm } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: cloudASm.type,
  maxValueBytes: cloudASm.maxValueBytes,
  takesEmptyValue: cloudASm.takesEmptyValue,
  supportsTags: cloudASm.supportsTags,
  pageSize: 100,
  changesOutside: {
    value: { belongs: 'own', isUntouched: false, value: 'different' },
    tags: { belongs: 'own', isUntouched: true },
    deleted: { exists: false },
    purged: { exists: false },
    recreated: { belongs: 'none', isUntouched: false, value: 'different' },
  },
  writesOutside: {
    deleted: ['RestoreSecret'],
    purged: ['PutSecretValue', 'CreateSecret'],
    recreated: ['PutSecretValue', 'CreateSecret', 'TagResource', 'PutSecretValue'],
    value: ['PutSecretValue'],
  },
  leavesOutside: {
    recreated: { kind: 'conflict', because: 'it is the secret of somebody else' },
  },
  start: (canary) => startHarness({}, { canary }),
});
