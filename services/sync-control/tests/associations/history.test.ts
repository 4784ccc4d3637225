import { beforeEach, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const read = (query: string, caller = testCaller()) =>
  sync.call('GET', `${at.path}/associations/history?mount=${at.mount}&${query}`, undefined, caller);

test('the outcomes of an association are shown, the newest first', async () => {
  await at.write('a', { k: 'v' });
  await at.set('a');
  await sync.work('fail');
  await at.set('a');
  await sync.work();
  const { status, body } = await read('secret_name=a');
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/);
  const outcome = (more: object) => ({
    at: time,
    since: time,
    action: 'put',
    sync_status: 'SYNCED',
    fault: null,
    error: null,
    attempts: 1,
    ...more,
  });
  expect(status).toBe(200);
  expect(body.data).toEqual({
    store_type: 'cloudA-sm',
    store_name: at.name,
    accessor: at.accessor,
    mount: at.mount,
    secret_name: 'a',
    external_secrets: [
      {
        sub_key: '',
        external_name: `secrets/${at.accessor}/a`,
        sync_status: 'SYNCED',
        outcomes: [
          outcome({}),
          outcome({ sync_status: 'CLIENT_SIDE_ERROR', fault: 'forbidden', error: 'no permission' }),
        ],
      },
    ],
  });
});

test('an association that was never tried has no outcomes', async () => {
  await at.write('a', { k: 'v' });
  await at.set('a');
  expect((await read('secret_name=a')).body.data.external_secrets).toMatchObject([{ outcomes: [] }]);
});

test('each key has its own history, in pages or one by one', async () => {
  at = await sync.fixture({ granularity: 'secret-key' });
  await at.write('a', { x: '1', y: '2', z: '3' });
  await at.set('a');
  await sync.work();
  const keysOf = ({ body }: Awaited<ReturnType<typeof read>>) =>
    body.data.external_secrets.map(({ sub_key: key, outcomes }: { sub_key: string; outcomes: unknown[] }) => [
      key,
      outcomes.length,
    ]);
  expect(keysOf(await read('secret_name=a&sub_key=y'))).toEqual([['y', 1]]);
  const first = await read('secret_name=a&limit=2');
  expect([keysOf(first), first.body.data.next]).toEqual([
    [
      ['x', 1],
      ['y', 1],
    ],
    'y',
  ]);
  const second = await read('secret_name=a&limit=2&after=y');
  expect([keysOf(second), second.body.data.next]).toEqual([[['z', 1]], undefined]);
});

test('what does not exist is a 404, and a missing parameter a 400', async () => {
  await at.write('a', { k: 'v' });
  await at.set('a');
  expect((await read('secret_name=none')).status).toBe(404);
  expect((await read('secret_name=a&sub_key=none')).status).toBe(404);
  const elsewhere = testCaller({ namespace: { id: 'admin', path: 'admin' } });
  expect((await read('secret_name=a', elsewhere)).status).toBe(404);
  const { status, body } = await read('');
  expect([status, body.errors]).toEqual([400, ['secret_name is required']]);
});
