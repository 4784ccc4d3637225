import { expect, test } from '@jest/globals';
import { LookupCache } from './lookup-cache.ts';

/** A cache at a time that the test sets, in front of an API that counts its requests. */
function cacheAt() {
  const at = { now: 1, requests: 0, value: { id: 'machine' } as object | undefined };
  const cache = new LookupCache(() => at.now);
  const look = () =>
    cache.get('key', async () => {
      at.requests += 1;
      return at.value;
    });
  return { at, cache, look };
}

test('a removed identity is noticed after ten seconds', async () => {
  const { at, look } = cacheAt();
  await look();
  at.now += 9_900;
  await look();
  expect(at.requests).toBe(1);
  at.now += 200;
  await look();
  expect(at.requests).toBe(2);
});

test('a new machine is noticed after a second', async () => {
  const { at, look } = cacheAt();
  at.value = undefined;
  expect([await look(), await look()]).toEqual([undefined, undefined]);
  expect(at.requests).toBe(1);
  at.value = { id: 'new' };
  at.now += 1_001;
  expect(await look()).toEqual({ id: 'new' });
});

test('look-ups at the same time share one request, and a failure is not kept', async () => {
  const { at, cache, look } = cacheAt();
  const fail = () => cache.get('key', () => Promise.reject(new Error('down')));
  const failures = await Promise.allSettled([fail(), fail()]);
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await Promise.all([look(), look(), look()]);
  expect(at.requests).toBe(1);
});
