import { randomBytes, randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { versionAad } from '@secrets/domain';
import { encrypt, parseKeyRing } from '@secrets/seal';
import type { StoredValue } from '@secrets/sync-entries';
import { SecretValues } from './secret-values.ts';

const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
const mebibyte = 1_048_576;
let values: SecretValues;
let reads: string[];

beforeEach(() => {
  values = new SecretValues(keyRing, 2);
  reads = [];
});
afterEach(() => values.close());

/** A version of a secret that was not read because of its size. */
const unread = (bytes = mebibyte): StoredValue => ({
  location: { mountId: randomUUID(), path: 's', versionId: randomUUID() },
  bytes,
  sealed: null,
});

const share = (stored: StoredValue, text = '{"a":"1"}') =>
  values.shareLarge(stored, async () => {
    reads.push(stored.location.versionId);
    return encrypt(keyRing, versionAad(stored.location), Buffer.from(text));
  });

test('a large value is read once for the attempts that need it at the same time', async () => {
  const stored = unread();
  const shared = await Promise.all([share(stored), share(stored)]);
  expect(shared.map(({ value }) => values.pushedValue(value, ''))).toEqual(['{"a":"1"}', '{"a":"1"}']);
  for (const { release } of shared) release();
  await share(stored);
  expect(reads).toHaveLength(2);
});

test('no more large values are read than there is memory for', async () => {
  const [first, second, third] = [unread(), unread(), unread()];
  const { release } = await share(first);
  const { release: shared } = await share(first);
  await share(second);
  const waiting = share(third);
  release();
  release();
  await setImmediate();
  expect(reads).toHaveLength(2);
  shared();
  await waiting;
  expect(reads).toEqual([first, second, third].map(({ location }) => location.versionId));
});

test('a value that cannot be read keeps no memory', async () => {
  const broken = () =>
    values.shareLarge(unread(2 * mebibyte), () => Promise.reject(new Error('no database')));
  await expect(broken()).rejects.toThrow('no database');
  await expect(broken()).rejects.toThrow('no database');
  await expect(values.shareLarge(unread(), async () => undefined)).rejects.toMatchObject({
    kind: 'not_ready',
  });
  await share(unread(2 * mebibyte));
});

test('a large value of which keys were pushed needs no further read for a while', async () => {
  const stored = unread();
  const { value, release } = await share(stored);
  expect(values.pushedValue(value, 'a')).toBe('1');
  release();
  const { knownVersionIds, toValue } = values.reading();
  expect(knownVersionIds).toEqual([stored.location.versionId]);
  expect(toValue(stored)).toBe(value);
});
