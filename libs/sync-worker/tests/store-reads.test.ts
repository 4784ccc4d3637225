import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Fault, type StoreAnswer, type StoreQuestion, syncQueue } from '@secrets/domain';
import { seal } from '@secrets/seal';
import { eventually } from '@secrets/testing';
import type { ConnectedDestination } from '../src/driver/driver.ts';
import type { InspectRequest, ListPage, Look } from '../src/driver/look.ts';
import { valueHash } from '../src/entry/values/value-hash.ts';
import { type ImportWriter, noImportWriter } from '../src/look/import/import-writer.ts';
import { createSyncWorker } from '../src/runtime/sync-worker.ts';
import { emptyStore } from './empty-store.ts';
import { useServers } from './use-servers.ts';

const destinationType = 'cloudA-sm';
const { db, broker, keyRing, depsOfWorker } = useServers();

const secret = { belongs: 'none', isReadable: true, createdAt: new Date(0), changedAt: null } as const;
const page: ListPage = {
  secrets: [
    { name: 'b', ...secret },
    { name: 'a', ...secret },
  ],
  next: '2',
};

const question: StoreQuestion = { after: { page: '1', name: 'a' }, limit: 5 };

/** Starts a worker of a store with this list, and has it read what is there. */
const answerOf = (list: ConnectedDestination['list'], seconds = 60): Promise<StoreAnswer | null> =>
  answerFrom({ list }, question, seconds);

async function answerFrom(
  calls: Partial<ConnectedDestination>,
  asked: StoreQuestion,
  seconds = 60,
  imports: ImportWriter = noImportWriter,
): Promise<StoreAnswer | null> {
  const store = emptyStore({ list: async () => page, ...calls });
  const worker = createSyncWorker(
    { type: destinationType, connect: async () => store },
    { ...depsOfWorker(), imports },
    {
      concurrency: 4,
      leaseSeconds: 60,
      prefix: 'secrets',
    },
  );
  await worker.start();
  try {
    return await request(asked, seconds);
  } finally {
    await worker.stop();
  }
}

const readRow = async (id: string) => {
  const [row] = await db.query<{ answer: StoreAnswer | null; isStarted: boolean }>(
    'select answer, started_at is not null as "isStarted" from sync.store_reads where id = $1',
    [id],
  );
  return row!;
};

async function request(asked: StoreQuestion, seconds: number): Promise<StoreAnswer | null> {
  const destinationId = randomUUID();
  await db.query(
    `insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
     values ($1::uuid, 'root', '', $2, $1::text, '{}')`,
    [destinationId, destinationType],
  );
  const [row] = await db.query<{ id: string }>(
    `insert into sync.store_reads (destination_id, destination_type, question, ends_at)
     values ($1, $2, $3::jsonb, now() + $4 * interval '1 second') returning id`,
    [destinationId, destinationType, JSON.stringify(asked), seconds],
  );
  const message = { check_id: row!.id, destination_id: destinationId, store_read: true };
  // The second message is received after the first: then, the first has been handled, or is.
  await broker.publish(syncQueue(destinationType), [message, message]);
  if (seconds > 0) await eventually(async () => (await readRow(row!.id)).answer !== null);
  return (await readRow(row!.id)).answer;
}

test('a read lists the page that was asked for once, and answers with what follows the name', async () => {
  const pages: (string | null)[] = [];
  const answer = await answerOf(async (after) => {
    pages.push(after);
    return page;
  });
  expect(answer).toEqual({
    secrets: [{ name: 'b', ...secret, createdAt: '1970-01-01T00:00:00.000Z' }],
    next: { page: '2', name: '' },
  });
  expect(pages).toEqual(['1']);
});

test.each([
  ['a refusal', new Fault('forbidden', 'not permitted'), { fault: 'forbidden', message: 'not permitted' }],
  [
    'an unexpected error, without its details',
    new Error('canary-7f3a'),
    { fault: null, message: 'an internal error; see the log of the sync worker' },
  ],
])('a read answers with the reason of its failure: %s', async (_, error, failure) => {
  const answer = await answerOf(async () => {
    throw error;
  });
  expect(answer).toEqual({ failure });
});

test('a read of a throttled account answers when to ask again', async () => {
  const answer = await answerOf(async () => {
    throw new Fault('throttled', 'slow down', { retryAfterSeconds: 9 });
  });
  expect(answer).toEqual({ failure: { fault: 'throttled', message: 'slow down', retryAfterSeconds: 9 } });
});

test('a list that does not end is given up before the request is', async () => {
  const answer = await answerOf(() => new Promise(() => {}), 1);
  expect(answer).toEqual({
    failure: { fault: 'unavailable', message: 'the destination did not respond in time' },
  });
});

test('a read that has ended is not begun', async () => {
  let calls = 0;
  const answer = await answerOf(async () => {
    calls += 1;
    return page;
  }, 0);
  expect([answer, calls]).toEqual([null, 0]);
});

const about = (...names: string[]) => ({
  secrets: names.map((name) => ({ name, hash: valueHash(keyRing).of('{"a":1,"b":2}'), entryId: null })),
});

/** Has a worker look at names, in whose store these values are. */
const lookedAt = (values: Record<string, string>, names: string[], more: Partial<Look> = {}) =>
  answerFrom(
    {
      inspect: async ({ externalName, isSameValue }: InspectRequest): Promise<Look> => {
        const value = values[externalName];
        if (value === undefined) return { exists: false };
        return {
          exists: true,
          belongs: 'own',
          mark: '1',
          isUntouched: false,
          value: isSameValue(seal(value)) ? 'same' : 'different',
          changedAt: null,
          ...more,
        } as Look;
      },
    },
    about(...names),
  );

const state = (name: string, reason: string | null = null) => ({ state: name, reason });

test('a look compares each external secret with the hash of the value that it would get', async () => {
  const values = { equal: '{"b":2, "a":1}', different: '{"a":2}' };
  expect(await lookedAt(values, ['equal', 'absent', 'different'])).toEqual({
    states: [state('equal'), state('absent'), state('different')],
  });
});

test('a look does not say whether the value of somebody else is equal', async () => {
  const theirs = await lookedAt({ a: '{"a":1,"b":2}' }, ['a'], { belongs: 'other' });
  expect(theirs).toEqual({ states: [state('another_destination')] });
});

test('a look compares what would be imported, whoever has written it, with the hash or with nothing', async () => {
  const { hash } = about('a').secrets[0]!;
  const asked = ['same', 'other', 'new', 'text'].map((name) => ({
    name,
    hash: name === 'same' || name === 'other' ? hash : '',
    entryId: null,
    importedAs: 'json' as const,
  }));
  const values: Record<string, string> = {
    same: '{"b":2,"a":1}',
    other: '{}',
    new: '{}',
    text: 'canary-7f3a',
  };
  const inspect = async ({ externalName, isSameValue }: InspectRequest): Promise<Look> => ({
    exists: true,
    belongs: 'none',
    mark: '1',
    isUntouched: false,
    value: isSameValue(seal(values[externalName]!)) ? 'same' : 'different',
    changedAt: null,
  });
  const answer = await answerFrom({ inspect }, { secrets: asked });
  const noObject = state('unknown', 'its value is not a JSON object; import it as key');
  expect(answer).toEqual({ states: [state('equal'), state('different'), state('different'), noObject] });
});

test.each([
  ['continues after a failure of one external secret', 'forbidden', 2, {}],
  ['continues after one that may pass', 'not_ready', 2, { isTemporary: true }],
  ['ends with a failure of the destination', 'unauthenticated', 1, { isTemporary: true }],
] as const)('a look %s, and says why it is unknown', async (_, fault, calls, more) => {
  let called = 0;
  const inspect = async (): Promise<Look> => {
    called += 1;
    throw new Fault(fault, 'no luck');
  };
  const answer = await answerFrom({ inspect }, about('a', 'b'));
  expect([answer, called]).toEqual([
    { states: Array(2).fill({ ...state('unknown', 'no luck'), ...more }) },
    calls,
  ]);
});

test('a look at an entry that is not synced, or with a hash of an unknown key, shows nothing', async () => {
  const [secret] = about('a').secrets;
  const answer = await answerFrom(
    {},
    {
      secrets: [
        { ...secret!, entryId: randomUUID() },
        { ...secret!, hash: 'other:hash' },
      ],
    },
  );
  expect(answer).toEqual({
    states: [
      state('unknown', 'the external secret is not synced at the moment'),
      state('unknown', 'the worker does not have the seal key of the secret yet'),
    ],
  });
});

test('a look writes a value that is not equal, if that is permitted, and only then', async () => {
  const { hash } = about('a').secrets[0]!;
  const write = (grant: string) => ({ grant, permit: 'signed' });
  const asked = (name: string, more: object) => ({
    name,
    hash: '',
    entryId: null,
    importedAs: 'json' as const,
    ...more,
  });
  const values: Record<string, string> = {
    same: '{"b":2,"a":1}',
    late: '{}',
    refused: '{}',
    free: '{}',
    text: 'x',
  };
  const inspect = async ({ externalName, isSameValue }: InspectRequest): Promise<Look> => {
    if (values[externalName] === undefined) return { exists: false };
    const value = isSameValue(seal(values[externalName])) ? 'same' : 'different';
    return { exists: true, belongs: 'none', mark: '1', isUntouched: false, value, changedAt: null };
  };
  const written: string[] = [];
  const imports: ImportWriter = {
    write: async ({ grant, permit }, text) => {
      if (grant === 'late') throw new Fault('unavailable', 'the secret was written during the import');
      if (grant === 'refused') throw new Fault('rejected', 'it is too large');
      written.push(`${grant} ${permit} ${text.reveal()}`);
    },
  };
  const secrets = [
    asked('same', { hash, write: write('same') }),
    asked('late', { write: write('late') }),
    asked('refused', { write: write('refused') }),
    asked('free', { write: write('free') }),
    asked('text', { write: write('text') }),
    asked('gone', { write: write('gone') }),
    asked('free', {}),
  ];
  const states = [
    state('equal'),
    { ...state('unknown', 'the secret was written during the import'), isTemporary: true },
    state('unknown', 'it is too large'),
    { ...state('different'), isWritten: true },
    state('unknown', 'its value is not a JSON object; import it as key'),
    state('absent'),
    state('different'),
  ];
  // A failure of secrets ends the page: what follows is looked at again with it.
  const [first, ...rest] = secrets;
  expect(await answerFrom({ inspect }, { secrets: [first!, ...rest.slice(1)] }, 60, imports)).toEqual({
    states: [states[0], ...states.slice(2)],
  });
  expect(written).toEqual(['free signed {}']);
  expect(await answerFrom({ inspect }, { secrets: rest.slice(0, 2) }, 60, imports)).toEqual({
    states: [states[1], states[1]],
  });
});
