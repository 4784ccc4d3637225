import { beforeEach, describe, expect, test } from '@jest/globals';
import { writePolicy } from '@secrets/access/testing';
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
        id: expect.any(String),
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

describe('an entry by its ID', () => {
  const readEntry = async (caller = testCaller()) => {
    const [entry] = await sync.db.query<{ id: string }>(
      'select e.id from sync.entries e join sync.destinations d on d.id = e.destination_id where d.name = $1',
      [at.name],
    );
    return sync.call('GET', `/sys/sync/entries/${entry!.id}`, undefined, caller);
  };

  test('it has its destination, its secret and its outcomes', async () => {
    await at.push('a');
    const { status, body } = await readEntry();
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      store_type: 'cloudA-sm',
      store_name: at.name,
      mount: at.mount,
      secret_name: 'a',
      sub_key: '',
      external_name: `secrets/${at.accessor}/a`,
      sync_status: 'SYNCED',
      outcomes: [{ action: 'put', sync_status: 'SYNCED' }],
    });
  });

  test('it is shown to whoever may read the associations of its destination, in their namespace', async () => {
    await at.push('a');
    const path = `sys/sync/destinations/cloudA-sm/${at.name}/associations`;
    await writePolicy(sync.db, 'reads-it', { [path]: ['read'] });
    await writePolicy(sync.db, 'reads-entries', { 'sys/sync/entries/*': ['read'] });
    expect((await readEntry(testCaller({ policies: ['reads-it'] }))).status).toBe(200);
    expect((await readEntry(testCaller({ policies: ['reads-entries'] }))).status).toBe(403);
    const elsewhere = testCaller({ namespace: { id: 'other', path: 'other/' } });
    expect((await readEntry(elsewhere)).status).toBe(404);
  });

  test('one that does not exist is a 404, and what is no ID a 400', async () => {
    const of = (id: string) => sync.call('GET', `/sys/sync/entries/${id}`);
    expect((await of('00000000-0000-4000-8000-000000000000')).status).toBe(404);
    expect((await of('x')).status).toBe(400);
  });
});
