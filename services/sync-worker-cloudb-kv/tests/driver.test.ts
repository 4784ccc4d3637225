import { cloudBKv } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

describeDriver({
  name: cloudBKv.type,
  maxValueBytes: cloudBKv.maxValueBytes,
  takesEmptyValue: cloudBKv.takesEmptyValue,
  supportsTags: cloudBKv.supportsTags,
  pageSize: 25,
  changesOutside: {
    value: { belongs: 'own', isUntouched: false, value: 'different' },
    tags: { belongs: 'own', isUntouched: true },
    disabled: { belongs: 'own', isUntouched: false, value: 'unread' },
    certificate: { belongs: 'provider', isUntouched: false, value: 'unread' },
    deleted: { exists: false },
    recreated: { belongs: 'none', isUntouched: false, value: 'different' },
  },
  leavesOutside: {
    disabled: { kind: 'rejected', because: 'somebody has taken it out of use' },
    certificate: { kind: 'rejected', because: 'it is the private key of a certificate, and disabled' },
    recreated: { kind: 'conflict', because: 'it is the secret of somebody else' },
  },
  start: (canary) => startHarness({}, { canary }),
});
