import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import type { AtEpoch } from '../read-access.ts';
import { epochCache } from './epoch-cache.ts';

/** A cache over one value. Reads take their snapshot immediately and return it when the test says so. */
function setUp() {
  const state = { epoch: 1, name: 'first' as string | undefined, reads: 0 };
  const pendingReads: (() => void)[] = [];
  const read = (): Promise<AtEpoch<{ name: string }>> => {
    state.reads += 1;
    const snapshot = { epoch: state.epoch, row: state.name === undefined ? undefined : { name: state.name } };
    return new Promise((resolve) => pendingReads.push(() => resolve(snapshot)));
  };
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) {
      for (const finish of pendingReads.splice(0)) finish();
      await setImmediate();
    }
  };
  const cache = epochCache<{ name: string }>({ epochNow: async () => state.epoch, maxEntries: 10 });
  const get = async (key = 'k') => (await cache.get(key, read))?.name;
  const change = (name: string | undefined) => {
    state.name = name;
    state.epoch += 1;
  };
  /** Finishes the read that started last. */
  const settleLast = async () => {
    pendingReads.pop()?.();
    await setImmediate();
  };
  return { state, get, change, settle, settleLast };
}

test('a value is read once while the epoch does not change', async () => {
  const { state, get, settle } = setUp();
  const results = [get(), get(), get()];
  await settle();
  expect(await Promise.all(results)).toEqual(['first', 'first', 'first']);
  expect([await get(), state.reads]).toEqual(['first', 1]);
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

test('a heavy value evicts the least recently used ones, and one over the maximum is not cached', async () => {
  const cache = epochCache<{ weight: number }>({
    epochNow: async () => 1,
    maxEntries: 10,
    weightOf: ({ weight }) => weight,
    maxWeight: 100,
  });
  const reads: string[] = [];
  const get = (key: string, weight: number) =>
    cache.get(key, async () => {
      reads.push(key);
      return { epoch: 1, row: { weight } };
    });
  await get('a', 60);
  await get('b', 60);
  await get('b', 60);
  await get('a', 60);
  expect(await get('too heavy', 101)).toEqual({ weight: 101 });
  await get('too heavy', 101);
  expect(reads).toEqual(['a', 'b', 'a', 'too heavy', 'too heavy']);
});
