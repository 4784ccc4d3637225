import { cloudCSm } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { isLongRun } from '../../../tests/harness/run-size.ts';
import { startHarness } from './sandbox-harness.ts';

const shared = {
  maxValueBytes: cloudCSm.maxValueBytes,
  takesEmptyValue: cloudCSm.takesEmptyValue,
  supportsTags: cloudCSm.supportsTags,
  changesOutside: {
    value: { belongs: 'own', isUntouched: false, value: 'different' },
    labels: { belongs: 'own', isUntouched: true },
    disabled: { belongs: 'own', isUntouched: false, value: 'unread' },
    destroyed: { belongs: 'own', isUntouched: false, value: 'unread' },
    deleted: { exists: false },
    recreated: { belongs: 'none', isUntouched: false, value: 'different' },
  },
  writesOutside: {
    deleted: ['CreateSecret', 'AddSecretVersion'],
    destroyed: ['AddSecretVersion', 'DestroySecretVersion'],
    disabled: ['AddSecretVersion', 'DestroySecretVersion'],
    recreated: ['UpdateSecret', 'AddSecretVersion'],
    value: ['AddSecretVersion', 'DestroySecretVersion'],
  },
  leavesOutside: {
    recreated: { kind: 'conflict', because: 'it is the secret of somebody else' },
  },
} as const;

describeDriver({
  ...shared,
  name: cloudCSm.type,
  start: (canary) => startHarness({}, { canary }),
});

// What differs by location is in regional.test.ts.
if (isLongRun)
  describeDriver({
    ...shared,
    name: `${cloudCSm.type}, regional`,
    start: (canary) => startHarness({}, { canary, location: 'europe-west3' }),
  });
