import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { parseKeyRing } from '@secrets/seal';
import type { ClaimedEntry } from '@secrets/sync-entries';
import type { AttemptContext } from './entry-statements.ts';
import { settingsHash } from './values/push-identity.ts';
import { valueHash } from './values/value-hash.ts';
import { workOnEntry } from './work-on-entry.ts';

const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
const value = {} as NonNullable<AttemptContext['value']>;

const destination = { settings: {} } as AttemptContext['destination'];

/** Works on an entry with `desired` present. Returns the calls to the destination and the recorded status. */
const source = { naming: {} } as AttemptContext['source'];
const place = { isOfEarlierScope: false, mayHaveRivals: false, rival: null };

async function work(entry: Partial<ClaimedEntry>, context: Partial<AttemptContext>, pushed?: string) {
  const calls: string[] = [];
  const statuses: string[] = [];
  const hashes: (string | null)[] = [];
  let answers = 0;
  const connected = { put: async () => calls.push('put'), remove: async () => calls.push('remove') };
  const worker = {
    keyRing,
    clients: { use: (_destination: unknown, call: (one: unknown) => unknown) => call(connected) },
    entries: {
      values: { pushedValue: () => pushed, comparedValue: () => 'canonical' },
      statements: {
        complete: async (_held: unknown, achieved: { status: string; pushedHash: string | null }) => {
          hashes.push(achieved.pushedHash);
          return statuses.push(achieved.status) > 0;
        },
      },
    },
  } as unknown as Parameters<typeof workOnEntry>[0];
  const attempt = {
    entry: { id: 'e', desired: 'present', subKey: '', pushedHash: null, ...entry } as ClaimedEntry,
    context: { value: null, secretExists: true, destination, place, source, ...context } as AttemptContext,
    signal: new AbortController().signal,
    onAnswer: () => {
      answers += 1;
    },
  };
  const error = await workOnEntry(worker, attempt).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { calls, statuses, hashes, error, answers };
}

test('removes the external secret of a secret that has no readable version', async () => {
  const { calls, statuses, error } = await work({}, {});
  expect([calls, statuses, error]).toEqual([['remove'], ['UNSYNCED'], undefined]);
});

test('keeps the external secret of a secret that is gone: only a requested removal removes it', async () => {
  const { calls, error } = await work({}, { secretExists: false });
  expect(calls).toEqual([]);
  expect(error).toMatchObject({ kind: 'rejected', message: expect.stringContaining('the secret no longer') });
});

test('keeps the external secret of a key that is gone', async () => {
  const { calls, error } = await work({ subKey: 'gone' }, { value });
  expect(calls).toEqual([]);
  expect(error).toMatchObject({ kind: 'rejected', message: expect.stringContaining('the key no longer') });
});

test('keeps the external secret while the key is missing that the destination pushes', async () => {
  const settings = { value_key: 'pass' };
  const { calls, error } = await work({}, { value, destination: { ...destination, settings } });
  expect(calls).toEqual([]);
  expect(error).toMatchObject({
    kind: 'rejected',
    message: expect.stringContaining('the secret has no key pass'),
  });
});

test('reports an answer of the destination only if it was called', async () => {
  expect((await work({}, {})).answers).toBe(1);
  expect((await work({}, { secretExists: false })).answers).toBe(0);
});

test.each(['canonical', 'reordered'])(
  'calls nothing if the value is equal to the one pushed, whose %s text was hashed',
  async (hashed) => {
    const { of, matches } = valueHash(keyRing);
    const known = {
      pushedHash: of(hashed),
      settingsHash: settingsHash(destination),
      attempts: 0,
      verify: false,
    };
    const { calls, statuses, hashes, error } = await work(known, { value }, 'reordered');
    expect([calls, statuses, error]).toEqual([[], ['SYNCED'], undefined]);
    expect(matches('canonical', hashes[0]!)).toBe(true);
  },
);

test('pushes a value that is not equal to the one pushed', async () => {
  const known = {
    pushedHash: valueHash(keyRing).of('other'),
    settingsHash: settingsHash(destination),
    attempts: 0,
  };
  expect((await work(known, { value }, 'reordered')).calls).toEqual(['put']);
});

test.each([
  ['pushes the newest value to', 'value', ['put']],
  ['leaves', undefined, []],
])(
  'while its replacement fails, %s what is to be removed later, if that is %s',
  async (_, pushed, called) => {
    const outgoing = { desired: 'absent', isRefreshed: true, attempts: 0 } as const;
    const { calls, statuses, error } = await work(outgoing, { value }, pushed);
    expect([calls, statuses, error]).toEqual([called, ['SYNCED'], undefined]);
  },
);
