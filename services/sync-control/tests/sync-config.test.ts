import { beforeEach, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { useSyncControl } from './sync-control-for-test.ts';

const sync = useSyncControl();

beforeEach(() => sync.call('DELETE', path));

const path = '/sys/sync/config';
const defaults = { disabled: false, queue_capacity: 1_000_000 };
const callerIn = (id: string, namespacePath: string) =>
  testCaller({ namespace: { id, path: namespacePath } });

test('GET returns the defaults, with the type of the mount', async () => {
  const { status, body } = await sync.call('GET', path);
  expect(status).toBe(200);
  expect(body).toMatchObject({ data: defaults, mount_type: 'system', warnings: null });
});

test('PATCH changes the given settings, also given as strings, and returns all of them', async () => {
  const disabled = await sync.call('PATCH', path, { disabled: 'true' });
  expect([disabled.status, disabled.body.data]).toEqual([200, { ...defaults, disabled: true }]);
  const bounded = await sync.call('PATCH', path, { queue_capacity: '5' });
  expect(bounded.body.data).toEqual({ disabled: true, queue_capacity: 5 });
  expect((await sync.call('GET', path)).body.data).toEqual({ disabled: true, queue_capacity: 5 });
});

test('DELETE restores the defaults', async () => {
  await sync.call('PATCH', path, { disabled: true, queue_capacity: 5 });
  const { status, body } = await sync.call('DELETE', path);
  expect([status, body]).toEqual([204, undefined]);
  expect((await sync.call('GET', path)).body.data).toEqual(defaults);
});

test('PATCH with null restores the default of a field and leaves the others', async () => {
  await sync.call('PATCH', path, { disabled: true, queue_capacity: 5 });
  const { status, body } = await sync.call('PATCH', path, { queue_capacity: null });
  expect([status, body.data]).toEqual([200, { disabled: true, queue_capacity: 1_000_000 }]);
  expect((await sync.call('PATCH', path, { disabled: null })).body.data.disabled).toBe(false);
});

test.each([{ disabled: 'maybe' }, { queue_capacity: 0 }, { queue_capacity: 'x' }])(
  'PATCH %j returns 400 and names the field',
  async (given) => {
    const { status, body } = await sync.call('PATCH', path, given);
    expect(status).toBe(400);
    expect(body.errors[0]).toMatch(new RegExp(`^${Object.keys(given)[0]}: `));
    expect((await sync.call('GET', path)).body.data).toEqual(defaults);
  },
);

test('exists only in the root and the administrative namespace', async () => {
  expect((await sync.call('GET', path, undefined, callerIn('admin', 'admin'))).status).toBe(200);
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    const body = method === 'PATCH' ? { disabled: true } : undefined;
    expect((await sync.call(method, path, body, callerIn('team', 'team'))).status).toBe(404);
  }
  expect((await sync.call('GET', path)).body.data).toEqual(defaults);
});

test('refuses a method that the path does not support with 405', async () => {
  const { status, headers } = await sync.call('POST', path, {});
  expect([status, headers.get('allow')]).toEqual([405, 'GET, PATCH, DELETE']);
});
