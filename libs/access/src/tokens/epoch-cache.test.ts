import { expect, test } from '@jest/globals';
import type { AtEpoch } from '../read-access.ts';
import { epochCache } from './epoch-cache.ts';

/** A world of one value, with reads that take their snapshot at once and answer when told to. */
function world() {
  const state = { epoch: 1, name: 'first' as string | undefined, reads: 0 };
  const waiting: (() => void)[] = [];
  const read = (): Promise<AtEpoch<{ name: string }>> => {
    state.reads += 1;
    const snapshot = { epoch: state.epoch, row: state.name === undefined ? undefined : { name: state.name } };
    return new Promise((resolve) => waiting.push(() => resolve(snapshot)));
  };
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) {
      for (const answer of waiting.splice(0)) answer();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const cache = epochCache<{ name: string }>({ epochNow: async () => state.epoch, maxEntries: 10 });
  const get = async (key = 'k') => (await cache.get(key, read))?.name;
  const change = (name: string | undefined) => {
    state.name = name;
    state.epoch += 1;
  };
  /** Answers the read that began last. */
  const settleLast = async () => {
    waiting.pop()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { state, get, change, settle, settleLast };
}

test('is read once while the epoch stands still', async () => {
  const { state, get, settle } = world();
  const asked = [get(), get(), get()];
  await settle();
  expect(await Promise.all(asked)).toEqual(['first', 'first', 'first']);
  expect([await get(), state.reads]).toEqual(['first', 1]);
});

test('a change is seen by the next question', async () => {
  const { get, change, settle } = world();
  const before = get();
  await settle();
  change(undefined);
  const after = get();
  await settle();
  expect([await before, await after]).toEqual(['first', undefined]);
});

test('a read that began before a change does not answer a question from after it', async () => {
  const { state, get, change, settle } = world();
  const before = get();
  change(undefined);
  const after = [get(), get()];
  await new Promise((resolve) => setImmediate(resolve));
  await settle();
  expect(await before).toBe('first');
  expect(await Promise.all(after)).toEqual([undefined, undefined]);
  expect(state.reads).toBe(2);
});

test('a late answer from before a change is not kept', async () => {
  const { get, change, settle } = world();
  const before = get();
  change('second');
  const after = get();
  await settle();
  expect([await before, await after, await get()]).toEqual(['first', 'second', 'second']);
});

test('nor is one that arrives after another key has brought the new epoch', async () => {
  const { get, change, settle, settleLast } = world();
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

test('an epoch that went back, as after a restored backup, empties it too', async () => {
  const { state, get, settle } = world();
  const before = get();
  await settle();
  Object.assign(state, { epoch: 0, name: undefined });
  const after = get();
  await settle();
  expect([await before, await after]).toEqual(['first', undefined]);
});

test('what is heavy makes room by pushing out what was not used for longest', async () => {
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
