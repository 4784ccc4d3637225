import { beforeEach, expect, test } from '@jest/globals';
import { driftKinds } from '@secrets/domain';
import { insertMany } from '../insert-many.ts';
import { type Fixture, useSyncControl } from '../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture({ granularity: 'secret-key' });
});

const read = (query: string) => sync.call('GET', `${at.path}/associations?${query}`);
type Lines = Record<string, { sync_status: string }>;
const namesOf = (lines: Lines) => Object.keys(lines).map((key) => key.slice(key.indexOf('/') + 1));
const names = async (query: string) => namesOf((await read(query)).body.data.associated_secrets).sort();

/** Reads all pages. */
async function allNames(query: string): Promise<string[]> {
  const all: string[] = [];
  for (let after = ''; ; ) {
    const { data } = (await read(`${query}${after}`)).body;
    all.push(...namesOf(data.associated_secrets));
    if (data.next === undefined) return all.sort();
    after = `&after=${encodeURIComponent(data.next)}`;
  }
}

async function setSecret(name: string, data: object): Promise<void> {
  await at.write(name, data);
  await at.set(name);
}

test('only objects with one of the given statuses are returned', async () => {
  await sync.call('PATCH', '/sys/sync/config', { disabled: false });
  await setSecret('a', { x: '1', y: '2' });
  await sync.work();
  await setSecret('b', { x: '1' });
  await sync.work('fail');
  await sync.call('PATCH', '/sys/sync/config', { disabled: true });
  await setSecret('c', { x: '1' });
  expect(await names('status=SYNCED')).toEqual(['a/x', 'a/y']);
  expect(await names('status=CLIENT_SIDE_ERROR')).toEqual(['b/x']);
  expect(await names('status=PENDING')).toEqual(['c/x']);
  expect(await names('status=PENDING, SYNCED')).toEqual(['a/x', 'a/y', 'c/x']);
  expect(await names('status=UNSYNCED')).toEqual([]);
});

test('only objects with one of the given kinds of drift are returned, in pages and with a status too', async () => {
  for (const name of ['a', 'b', 'c']) await setSecret(name, { x: '1', y: '2' });
  await sync.work();
  const drifted = async (drift: string, where: string) =>
    sync.db.query(
      `update sync.entries e set drift = $1 from sync.associations a where a.id = e.association_id and ${where}`,
      [drift],
    );
  await drifted('none', 'true');
  await drifted('changed', `a.secret_name = 'a'`);
  await drifted('missing', `a.secret_name = 'b' and e.sub_key = 'y'`);
  await sync.db.query(`update sync.entries set status = 'CLIENT_SIDE_ERROR' where sub_key = 'y'`);
  for (const limit of [1, 2, 100]) {
    expect(await allNames(`drift=changed&limit=${limit}`)).toEqual(['a/x', 'a/y']);
    expect(await allNames(`drift=changed,missing&limit=${limit}`)).toEqual(['a/x', 'a/y', 'b/y']);
    expect(await allNames(`drift=changed,missing&status=CLIENT_SIDE_ERROR&limit=${limit}`)).toEqual([
      'a/y',
      'b/y',
    ]);
  }
  expect(await names('drift=foreign')).toEqual([]);
});

test('pages cut between associations and between the keys of one', async () => {
  for (const name of ['a', 'b', 'c']) await setSecret(name, { x: '1', y: '2', z: '3' });
  await sync.work();
  await insertMany(sync.db, { destination: at.name, count: 20, status: 'CLIENT_SIDE_ERROR' });
  const synced = ['a', 'b', 'c'].flatMap((name) => ['x', 'y', 'z'].map((key) => `${name}/${key}`));
  for (const limit of [1, 2, 4, 100]) {
    expect(await allNames(`status=SYNCED&limit=${limit}`)).toEqual(synced);
    expect(await allNames(`status=CLIENT_SIDE_ERROR&limit=${limit}`)).toHaveLength(20);
  }
});

test('keys that cannot be synced are client-side errors, in pages too', async () => {
  for (const name of ['a', 'b', 'c']) await setSecret(name, { x: '1' });
  await sync.work();
  await insertMany(sync.db, { destination: at.name, count: 5, status: 'CLIENT_SIDE_ERROR' });
  await sync.db.query(
    `update sync.associations set unnamed_keys = '[{"key":"k1","reason":"r"},{"key":"k2","reason":"r"}]' where secret_name in ('a', 'b', 'many1')`,
  );
  const failed = [
    'a/k1',
    'a/k2',
    'b/k1',
    'b/k2',
    'many1',
    'many1/k1',
    'many1/k2',
    'many2',
    'many3',
    'many4',
    'many5',
  ];
  for (const limit of [1, 2, 3, 4, 100])
    expect(await allNames(`status=CLIENT_SIDE_ERROR&limit=${limit}`)).toEqual(failed);
  expect(await names('status=SYNCED')).toEqual(['a/x', 'b/x', 'c/x']);
});

test('while an external secret is replaced, its object is found by the status that it shows', async () => {
  await setSecret('a', { x: '1' });
  await sync.work();
  await sync.db.query(
    `insert into sync.entries (association_id, destination_id, destination_type, sub_key, external_name, collision_key, desired, due_at)
     select association_id, destination_id, destination_type, sub_key, 'old', 'old', 'absent', null from sync.entries`,
  );
  expect([await names('status=SYNCED'), await names('status=PENDING')]).toEqual([[], ['a/x']]);
});

test.each(['drift=', 'drift=changed,none', 'drift=Changed'])('%s is refused', async (query) => {
  const { status, body } = await read(query);
  const kinds = driftKinds.filter((kind) => kind !== 'none').join(', ');
  expect([status, body.errors]).toEqual([
    400,
    [`drift: must be one or more of ${kinds}, separated by commas`],
  ]);
});

test.each(['status=', 'status=SYNCED,NONE', 'status=synced'])('%s is refused', async (query) => {
  const { status, body } = await read(query);
  expect([status, body.errors]).toEqual([
    400,
    [
      'status: must be one or more of PENDING, SYNCED, UNSYNCED, UNKNOWN, CLIENT_SIDE_ERROR, EXTERNAL_SERVICE_ERROR, INTERNAL_SERVICE_ERROR, separated by commas',
    ],
  ]);
});
