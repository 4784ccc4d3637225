import { cloudBKv } from '@secrets/destinations';
import { describeDriver } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';

/** The vault's clock is behind: a look remembers the time of the last change only if that is some minutes ago. */
let behindMs = 600_000;

async function start(canary: string) {
  const harness = await startHarness({}, { canary, clock: () => Date.now() - behindMs });
  const changeOutside: NonNullable<typeof harness.changeOutside> = (change, name) => {
    behindMs -= 2_000; // so this is later than what a look has seen
    return harness.changeOutside!(change, name);
  };
  return { ...harness, changeOutside };
}

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
    purged: { exists: false },
    recreated: { belongs: 'none', isUntouched: false, value: 'different' },
  },
  writesOutside: {
    deleted: ['SetSecret', 'RecoverDeletedSecret'],
    purged: ['SetSecret'],
    recreated: ['UpdateSecret', 'SetSecret'],
    value: ['UpdateSecret', 'SetSecret'],
  },
  leavesOutside: {
    disabled: { kind: 'rejected', because: 'somebody has taken it out of use' },
    certificate: { kind: 'rejected', because: 'it is the private key of a certificate, and disabled' },
    recreated: { kind: 'conflict', because: 'it is the secret of somebody else' },
  },
  start,
});
