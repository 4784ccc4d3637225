import { beforeEach, expect, test } from '@jest/globals';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture({ granularity: 'secret-key' });
  await at.write('a', { x: '1', y: '2' });
});

const capacityIs = (capacity: number) => sync.call('PATCH', '/sys/sync/config', { queue_capacity: capacity });
const full = expect.stringMatching(/^the sync queue is full: queue_capacity is \d+ pending operations$/);

test('accepts a set of an association whose entries are all pending', async () => {
  await at.set('a');
  await capacityIs(1);
  expect((await at.set('a')).status).toBe(200);
});

test('refuses a set that adds an operation with 429, and writes nothing', async () => {
  await at.set('a');
  await capacityIs(2);
  await at.write('b', { x: '1' });
  const { status, body, headers } = await at.set('b');
  expect([status, body.errors]).toEqual([429, [full]]);
  expect(headers.get('retry-after')).toBe('5');
  expect(Object.keys(await at.lines())).toHaveLength(2);
});

test('refuses to set, remove and purge what is achieved with 429', async () => {
  await at.set('a');
  await sync.work();
  const before = await at.lines();
  await at.write('b', { x: '1', y: '2' });
  await at.set('b');
  await capacityIs(2);
  expect((await at.set('a')).status).toBe(429);
  expect((await at.remove('a')).status).toBe(429);
  expect((await sync.call('DELETE', `${at.path}?purge=true`)).status).toBe(429);
  expect(await at.lines()).toMatchObject(before);
});

test('accepts a removal of what is pending or does not exist', async () => {
  await at.set('a');
  await capacityIs(1);
  expect((await at.remove('a')).status).toBe(200);
  expect((await at.remove('none')).status).toBe(200);
});
