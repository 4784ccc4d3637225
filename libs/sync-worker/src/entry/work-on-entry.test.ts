import { expect, test } from '@jest/globals';
import type { ClaimedEntry } from '@secrets/sync-entries';
import type { AttemptContext } from './entry-statements.ts';
import { workOnEntry } from './work-on-entry.ts';

const value = {} as NonNullable<AttemptContext['value']>;

/** Works on an entry with `desired` present. Returns the calls to the destination and the recorded status. */
async function work(entry: Partial<ClaimedEntry>, context: Partial<AttemptContext>) {
  const calls: string[] = [];
  const statuses: string[] = [];
  let answers = 0;
  const connected = { put: async () => calls.push('put'), remove: async () => calls.push('remove') };
  const worker = {
    values: { pushedValue: () => undefined }, // the key is not in the value
    clients: { use: (_destination: unknown, call: (one: unknown) => unknown) => call(connected) },
    statements: {
      complete: async (_held: unknown, { status }: { status: string }) => statuses.push(status) > 0,
    },
  } as unknown as Parameters<typeof workOnEntry>[0];
  const attempt = {
    entry: { id: 'e', desired: 'present', subKey: '', pushedHash: null, ...entry } as ClaimedEntry,
    context: { value: null, secretExists: true, ...context } as AttemptContext,
    signal: new AbortController().signal,
    onAnswer: () => {
      answers += 1;
    },
  };
  const error = await workOnEntry(worker, attempt).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { calls, statuses, error, answers };
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

test('reports an answer of the destination only if it was called', async () => {
  expect((await work({}, {})).answers).toBe(1);
  expect((await work({}, { secretExists: false })).answers).toBe(0);
});
