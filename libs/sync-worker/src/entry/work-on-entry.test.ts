import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { versionAad } from '@secrets/domain';
import { encrypt, parseKeyRing } from '@secrets/seal';
import type { ClaimedEntry, EntryContext } from '@secrets/sync-entries';
import { workOnEntry } from './work-on-entry.ts';

const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
const location = { mountId: 'm', path: 'p', versionId: 'v' };
const sealed = encrypt(keyRing, versionAad(location), Buffer.from('{"other":"value"}'));

/** Works on an entry with `desired` present. Returns the calls to the destination and the recorded status. */
async function work(entry: Partial<ClaimedEntry>, context: Partial<EntryContext>) {
  const calls: string[] = [];
  const statuses: string[] = [];
  const connected = { put: async () => calls.push('put'), remove: async () => calls.push('remove') };
  const worker = {
    keyRing,
    clients: { use: (_destination: unknown, call: (one: unknown) => unknown) => call(connected) },
    statements: {
      complete: async (_held: unknown, { status }: { status: string }) => statuses.push(status) > 0,
    },
  } as unknown as Parameters<typeof workOnEntry>[0];
  const attempt = {
    entry: { id: 'e', desired: 'present', subKey: '', pushedHash: null, ...entry } as ClaimedEntry,
    context: { value: null, secretExists: true, ...context } as EntryContext,
    signal: new AbortController().signal,
  };
  const error = await workOnEntry(worker, attempt).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { calls, statuses, error };
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
  const { calls, error } = await work({ subKey: 'gone' }, { value: { location, sealed } });
  expect(calls).toEqual([]);
  expect(error).toMatchObject({ kind: 'rejected', message: expect.stringContaining('the key no longer') });
});
