import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { Sql } from '@secrets/db';
import { accessChanges } from '../changes/access-changes.ts';
import type { NewestChanges } from '../changes/read-changes.ts';
import type { AtEpoch } from '../read-access.ts';
import { epochCache } from './epoch-cache.ts';

/** The changes of a database that has only these. */
const changesOf = (newest: (since: number) => NewestChanges) =>
  accessChanges({ query: async (_text, params) => [newest(Number(params?.[0]))] } as Partial<Sql> as Sql);

/** The identity of a change, which another one of the same number does not have. */
const idOf = (number: number, history: string) => `${history}${number}`;
const epochOf = (number: number, history = 'a') => `${number} ${idOf(number, history)} database`;

/** A cache over one value. Reads take their snapshot immediately and return it when the test says so. */
function setUp() {
  const state = { epoch: 1, history: 'a', name: 'first' as string | undefined, reads: 0 };
  const made: string[][] = [];
  const pendingReads: (() => void)[] = [];
  const read = (): Promise<AtEpoch<{ name: string }>> => {
    state.reads += 1;
    const epoch = epochOf(state.epoch, state.history);
    const snapshot = { epoch, row: state.name === undefined ? undefined : { name: state.name } };
    return new Promise((resolve) => pendingReads.push(() => resolve(snapshot)));
  };
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) {
      for (const finish of pendingReads.splice(0)) finish();
      await setImmediate();
    }
  };
  const changes = changesOf((since) => ({
    epoch: epochOf(state.epoch, state.history),
    changes:
      since < 1
        ? null
        : [[], ...made.slice(since - 1)].map((tags, n) => [idOf(since + n, state.history), tags]),
  }));
  const tagsOf = ({ name }: { name: string }) => [name];
  const cache = epochCache<{ name: string }>({ changes, maxEntries: 10, tagsOf });
  const get = async (key = 'k') => (await cache.get(key, read)).row?.name;
  /** By default, what the value before the change was. */
  const change = (name: string | undefined, tags = [state.name ?? 'nothing']) => {
    state.name = name;
    state.epoch += 1;
    made.push(tags);
  };
  /** Finishes the read that started last. */
  const settleLast = async () => {
    pendingReads.pop()?.();
    await setImmediate();
  };
  /** A change by a version that does not record tags. */
  const changeUnrecorded = (name: string) => {
    state.name = name;
    state.epoch += 1;
  };
  /** A failover that loses every change, after which as many others are made. */
  const replaceChanges = (name: string, tags: string[]) => {
    Object.assign(state, { name, history: 'b' });
    made.fill(tags);
  };
  return { state, get, change, replaceChanges, changeUnrecorded, settle, settleLast };
}

test('a value is read once while the epoch does not change', async () => {
  const { state, get, settle } = setUp();
  const results = [get(), get(), get()];
  await settle();
  expect(await Promise.all(results)).toEqual(['first', 'first', 'first']);
  expect([await get(), state.reads]).toEqual(['first', 1]);
});

test('a change does not concern a value without its tag', async () => {
  const { state, get, change, settle } = setUp();
  const before = get();
  await settle();
  change('second', ['something else']);
  expect([await before, await get(), state.reads]).toEqual(['first', 'first', 1]);
});

test('a change of which the tags are not recorded affects every value', async () => {
  const { get, changeUnrecorded, settle } = setUp();
  const before = get();
  await settle();
  changeUnrecorded('second');
  const after = get();
  await settle();
  expect([await before, await after]).toEqual(['first', 'second']);
});

test('a value that was read while others change is cached', async () => {
  const { state, get, change, settle } = setUp();
  const known = get('known');
  await settle();
  const slow = get('slow');
  change('first', ['something else']);
  await get('known');
  await settle();
  expect([await known, await slow, await get('slow'), state.reads]).toEqual(['first', 'first', 'first', 2]);
});

test('the next call after a change returns the new value', async () => {
  const { get, change, settle } = setUp();
  const before = get();
  await settle();
  change(undefined);
  const after = get();
  await settle();
  expect([await before, await after]).toEqual(['first', undefined]);
});

test('a read that started before a change is not shared with later calls', async () => {
  const { state, get, change, settle } = setUp();
  const before = get();
  change(undefined);
  const after = [get(), get()];
  await setImmediate();
  await settle();
  expect(await before).toBe('first');
  expect(await Promise.all(after)).toEqual([undefined, undefined]);
  expect(state.reads).toBe(2);
});

test('a result from before a change is not cached', async () => {
  const { get, change, settle } = setUp();
  const before = get();
  change('second');
  const after = get();
  await settle();
  expect([await before, await after, await get()]).toEqual(['first', 'second', 'second']);
});

test('a result from before a change is not cached even if another key has brought the new epoch', async () => {
  const { get, change, settle, settleLast } = setUp();
  const before = get('slow');
  change('second');
  const other = get('other');
  await settleLast();
  await settle();
  expect([await before, await other]).toEqual(['first', 'second']);
  const after = get('slow');
  await settle();
  expect(await after).toBe('second');
});

test('an epoch that decreases, as after restoring a backup, empties the cache', async () => {
  const { state, get, settle } = setUp();
  const before = get();
  await settle();
  Object.assign(state, { epoch: 0, name: undefined });
  const after = get();
  await settle();
  expect([await before, await after]).toEqual(['first', undefined]);
});

test('a number that is used again for another change empties the cache', async () => {
  const { get, change, replaceChanges, settle } = setUp();
  const before = get();
  await settle();
  change('granted by a lost change', ['something else']);
  const lost = get('other');
  await settle();
  replaceChanges('without it', ['something else again']);
  const after = [get(), get('other')];
  await settle();
  expect([await before, await lost, ...(await Promise.all(after))]).toEqual([
    ...['first', 'granted by a lost change'],
    ...['without it', 'without it'],
  ]);
});

test('what was read at a change that was then lost is not cached, even if it arrives later', async () => {
  const { state, get, change, replaceChanges, settle, settleLast } = setUp();
  const known = get('known');
  await settle();
  change('lost', ['something else']);
  const late = get('late');
  replaceChanges('kept', ['something else']);
  const other = get('other');
  await settleLast();
  await settle();
  expect([await known, await late, await other, state.reads]).toEqual(['first', 'lost', 'kept', 3]);
  const after = get('late');
  await settle();
  expect(await after).toBe('kept');
});

test('a heavy value evicts the least recently used ones, and one over the maximum is not cached', async () => {
  const cache = epochCache<{ weight: number }>({
    changes: changesOf(() => ({ epoch: epochOf(1), changes: null })),
    maxEntries: 10,
    tagsOf: () => [],
    weightOf: ({ weight }) => weight,
    maxWeight: 100,
  });
  const reads: string[] = [];
  const get = (key: string, weight: number) =>
    cache
      .get(key, async () => {
        reads.push(key);
        return { epoch: epochOf(1), row: { weight } };
      })
      .then(({ row }) => row);
  await get('a', 60);
  await get('b', 60);
  await get('b', 60);
  await get('a', 60);
  expect(await get('too heavy', 101)).toEqual({ weight: 101 });
  await get('too heavy', 101);
  expect(reads).toEqual(['a', 'b', 'a', 'too heavy', 'too heavy']);
});
