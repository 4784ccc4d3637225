import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { ValueMemory } from './value-memory.ts';

/** Requests memory, and says which requests were admitted. */
function requests(maxBytes: number) {
  const memory = new ValueMemory(maxBytes);
  const releases = new Map<string, () => void>();
  return {
    ask: (name: string, bytes: number) =>
      void memory.acquire(bytes).then((release) => releases.set(name, release)),
    release: (name: string) => releases.get(name)!(),
    admitted: async () => {
      await setImmediate();
      return [...releases.keys()];
    },
  };
}

test('admits values up to the limit, and the next one when enough is released', async () => {
  const { ask, release, admitted } = requests(10);
  ask('a', 6);
  ask('b', 4);
  ask('c', 5);
  expect(await admitted()).toEqual(['a', 'b']);
  release('b');
  expect(await admitted()).toEqual(['a', 'b']);
  release('a');
  expect(await admitted()).toEqual(['a', 'b', 'c']);
});

test('a value is not overtaken by smaller ones that came later', async () => {
  const { ask, release, admitted } = requests(10);
  ask('a', 6);
  ask('large', 8);
  ask('small', 1);
  expect(await admitted()).toEqual(['a']);
  release('a');
  expect(await admitted()).toEqual(['a', 'large', 'small']);
});

test('a value that exceeds the limit is admitted alone', async () => {
  const { ask, release, admitted } = requests(10);
  ask('a', 1);
  ask('huge', 11);
  expect(await admitted()).toEqual(['a']);
  release('a');
  ask('b', 1);
  expect(await admitted()).toEqual(['a', 'huge']);
  release('huge');
  expect(await admitted()).toEqual(['a', 'huge', 'b']);
});

test('releasing twice has no further effect', async () => {
  const { ask, release, admitted } = requests(10);
  ask('a', 6);
  ask('b', 4);
  await admitted();
  release('a');
  release('a');
  ask('c', 6);
  ask('d', 1);
  expect(await admitted()).toEqual(['a', 'b', 'c']);
});
