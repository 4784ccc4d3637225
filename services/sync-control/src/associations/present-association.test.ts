import { describe, expect, test } from '@jest/globals';
import type { SyncStatus } from '@secrets/domain';
import { linesByKey, presentAssociation, presentSummary } from './present-association.ts';

const moment = new Date('2026-01-02T03:04:05.678Z');
const association = {
  accessor: 'kv_1',
  mount: 'kv',
  secretName: 's',
  updatedAt: moment,
  unnamedKeys: [],
  heldBy: { byHand: true, rules: [] },
};
const entry = (externalName: string, desired: 'present' | 'absent', status: SyncStatus) => ({
  id: externalName,
  associationId: 'a',
  destinationId: 'd',
  subKey: '',
  desired,
  waitsFor: null,
  externalName,
  collisionKey: externalName,
  generation: 1,
  appliedGeneration: 1,
  status,
  attempts: 1,
  nextAttemptAt: null,
  verifiedAt: null,
  drift: null,
  driftSeenAt: null,
  evidence: null,
  fault: null,
  lastError: null,
  remote: null,
  updatedAt: moment,
});

test.each([
  ['CLIENT_SIDE_ERROR', 'PENDING', 'new'],
  ['PENDING', 'PENDING', 'new'],
  ['SYNCED', 'PENDING', 'old'],
  ['SYNCED', 'CLIENT_SIDE_ERROR', 'old'],
] as const)(
  'a new name that is %s and an old one that is %s share a line, which shows the one that most needs attention: the %s one',
  (newStatus, oldStatus, shown) => {
    const entries = [entry('old', 'absent', oldStatus), entry('new', 'present', newStatus)];
    for (const order of [entries, entries.toReversed()])
      expect(presentAssociation(association, order)).toMatchObject([{ line: { external_name: shown } }]);
  },
);

test('a key that cannot be synced determines the status of the summary', () => {
  const noted = { ...association, unnamedKeys: [{ key: 'k', reason: 'because' }] };
  expect(presentSummary(noted, [entry('a', 'present', 'SYNCED')])).toEqual({
    sync_status: 'CLIENT_SIDE_ERROR',
    updated_at: '2026-01-02T03:04:05.678+00:00',
  });
  expect(presentSummary(association, [])).toMatchObject({ sync_status: 'SYNCED' });
});

describe('the key of a line', () => {
  const keysOf = (...secrets: [secretName: string, subKey: string][]) => {
    const lines = secrets.flatMap(([secretName, subKey]) =>
      presentAssociation({ ...association, secretName }, [{ ...entry('e', 'present', 'SYNCED'), subKey }]),
    );
    const byKey = Object.entries(linesByKey(lines));
    expect(byKey.map(([, line]) => [line.secret_name, line.sub_key])).toEqual(secrets);
    return byKey.map(([key]) => key);
  };

  test('joins the accessor, the secret name and the key', () => {
    expect(keysOf(['s', ''], ['s', 'a/b'])).toEqual(['kv_1/s', 'kv_1/s/a/b']);
  });

  test('is percent-encoded if a shorter secret name joins to the same text', () => {
    expect(keysOf(['s', 'a/b'], ['s/a', 'b'])).toEqual(['kv_1/s/a/b', 'kv_1/s%2Fa/b']);
    expect(keysOf(['s/a', ''], ['s', 'a'], ['s', 'c'])).toEqual(['kv_1/s%2Fa', 'kv_1/s/a', 'kv_1/s/c']);
  });

  test('is the joined text on each page that no other line of the same text is on', () => {
    expect([keysOf(['s', 'a/b']), keysOf(['s/a', 'b'])]).toEqual([['kv_1/s/a/b'], ['kv_1/s/a/b']]);
  });

  test('differs even if a key is spelt like the encoding of another one', () => {
    expect(new Set(keysOf(['s', 'a/b'], ['s/a', 'b'], ['s%2Fa', 'b'])).size).toBe(3);
  });
});
