import { codehost } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: codehost.type,
  maxValueBytes: codehost.maxValueBytes,
  takesEmptyValue: codehost.takesEmptyValue,
  supportsTags: codehost.supportsTags,
  recordsStart: true,
  mayWriteTwice: true,
  readsValues: false,
  lookCalls: 2, // one of them conditional, which the provider does not count
  changesOutside: {
    value: { belongs: 'own', isUntouched: false, value: 'unread' },
    deleted: { exists: false },
    recreated: { belongs: 'none', isUntouched: false, value: 'unread' },
  },
  writesOutside: {
    deleted: ['createOrUpdateRepoSecret'],
    recreated: ['createOrUpdateRepoSecret'],
    value: ['createOrUpdateRepoSecret'],
  },
  leavesOutside: {
    recreated: { kind: 'conflict', because: 'it is the secret of somebody else' },
  },
  start: (canary) => startHarness({}, { canary }),
});
