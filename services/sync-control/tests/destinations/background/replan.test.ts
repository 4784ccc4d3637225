import { beforeEach, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { eventually, type Fixture, useSyncControl } from '../../sync-control-for-test.ts';

const sync = useSyncControl();
let at: Fixture;

beforeEach(async () => {
  await sync.reset();
  at = await sync.fixture();
});

const read = async () => (await sync.call('GET', at.path)).body.data;
const patch = (fields: object) => sync.call('PATCH', at.path, fields);
const replan = (body: object = {}) => sync.call('POST', `${at.path}/replan`, body);
const hasEnded = async () => (await read()).replan_initiated_at === undefined;
/** Waits for the end of a replan whose pages all succeed. */
const ended = () =>
  eventually(async () => {
    expect((await read()).background_error).toBeUndefined();
    return hasEnded();
  });
const names = async () => Object.values(await at.lines()).map(({ external_name: name }) => name);
const line = async (secretName: string) => (await at.lines())[`${at.accessor}/${secretName}`];

async function synced(secrets: Record<string, object>): Promise<void> {
  for (const [name, data] of Object.entries(secrets)) {
    await at.write(name, data);
    await at.set(name);
  }
  await sync.work();
}

/** Plans again and works until nothing is left to do. */
async function replanned(): Promise<void> {
  expect((await replan()).status).toBe(200);
  await ended();
  while ((await sync.work()) > 0);
}

test('a changed template leaves existing associations alone until they are planned again, and says so', async () => {
  await synced({ a: { k: 'v' } });
  const before = await names();
  const { body } = await patch({ secret_name_template: 'new/{{ .SecretPath }}' });
  expect(body.warnings).toEqual([expect.stringMatching(/keep their external names .*\/replan/)]);
  await sync.work();
  expect(await names()).toEqual(before);
});

test('applies a changed template to every association; the new name is created before the old one is removed', async () => {
  await synced({ a: { k: 'v' }, b: { k: 'v' } });
  await patch({ secret_name_template: 'new/{{ .SecretPath }}' });
  const { status, body } = await replan();
  expect([status, body.data]).toEqual([
    200,
    expect.objectContaining({ replan_initiated_at: expect.any(String) }),
  ]);
  await ended();
  expect(await sync.work('fail')).toBe(2); // the old ones wait for the new ones
  expect(await sync.db.query(`select id from sync.entries where desired = 'absent'`)).toHaveLength(2);
  await patch({});
  while ((await sync.work()) > 0);
  expect((await names()).sort()).toEqual(['new/a', 'new/b']);
  expect(await sync.db.query('select id from sync.entries')).toHaveLength(2);
});

test("lets keys take over each other's names without removing anything", async () => {
  await sync.call('PATCH', at.path, {
    granularity: 'secret-key',
    secret_name_template: 'x/{{ .SecretKey }}',
  });
  await synced({ a: { ab: '1', cab: '2' } });
  const entries = () =>
    sync.db.query('select id, sub_key as key, external_name as name from sync.entries order by name');
  const before = await entries();
  await patch({
    secret_name_template: 'x/{{ .SecretKey | replace "cab" "d" | replace "ab" "cab" | replace "d" "ab" }}',
  });
  const [change] = Object.values((await replan({ dry_run: true })).body.data.changes);
  expect(change).toEqual({
    create: [],
    hand_over: expect.arrayContaining([
      { sub_key: 'ab', external_name: 'x/cab' },
      { sub_key: 'cab', external_name: 'x/ab' },
    ]),
    remove: [],
  });
  await replanned();
  expect(await entries()).toEqual([
    { ...(before[0] as object), key: 'cab' },
    { ...(before[1] as object), key: 'ab' },
  ]);
});

test('applies a changed granularity in both directions', async () => {
  await synced({ a: { user: 'u', pass: 'p' } });
  await patch({ granularity: 'secret-key' });
  await replanned();
  expect(Object.keys(await at.lines()).sort()).toEqual([`${at.accessor}/a/pass`, `${at.accessor}/a/user`]);
  await patch({ granularity: 'secret-path' });
  await replanned();
  expect(Object.keys(await at.lines())).toEqual([`${at.accessor}/a`]);
});

test('writes nothing for associations that the change does not concern', async () => {
  await synced({ a: { k: 'v' } });
  const generations = () => sync.db.query('select id, generation, status from sync.entries');
  const before = await generations();
  await replanned();
  expect(await generations()).toEqual(before);
});

test('lets what users request go first', async () => {
  await synced({ a: { k: 'v' } });
  await patch({ secret_name_template: 'new/{{ .SecretPath }}' });
  await replan();
  await ended();
  expect(await sync.db.query('select distinct priority from sync.entries')).toEqual([{ priority: 2 }]);
  await at.set('a');
  expect(await sync.db.query('select distinct priority from sync.entries')).toEqual([{ priority: 0 }]);
});

test('leaves associations as they are that a set would refuse, and shows how many and why', async () => {
  await synced({ a: { k: 'v' }, b: { k: 'v' } });
  await patch({ secret_name_template: 'the same for all' }); // not allowed by the destination
  await patch({ secret_name_template: 'same' });
  await replanned();
  expect(await read()).toMatchObject({
    replan_refused: 1,
    replan_error: expect.stringMatching(/: the external name same is taken in this destination by /),
  });
  expect((await names()).filter((name) => name === 'same')).toHaveLength(1);
  await patch({ secret_name_template: null });
  await replanned();
  expect(await read()).not.toHaveProperty('replan_refused');
});

test('keeps the external secrets of keys that are gone if too many removals would follow', async () => {
  at = await sync.fixture({ granularity: 'secret-key' });
  const keys = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']));
  await synced({ a: keys(60) });
  await at.write('a', keys(1));
  await patch({ secret_name_template: 'new/{{ .SecretPath }}/{{ .SecretKey }}' });
  await replanned();
  expect(await sync.db.query(`select id from sync.entries where desired = 'absent'`)).toEqual([]);
  await eventually(async () => (await read()).removals_held === 59);
  expect(await read()).toMatchObject({ replan_refused: 1 });
  expect(await line('a/k1')).toMatchObject({ sync_status: 'SYNCED' });
});

describe('with dry_run', () => {
  test('shows what would change, page by page, and changes nothing', async () => {
    await synced({ a: { k: 'v' }, b: { k: 'v' } });
    await patch({ secret_name_template: 'new/{{ .SecretPath }}' });
    const before = await at.lines();
    const first = (await replan({ dry_run: true, limit: 1 })).body.data;
    const second = (await replan({ dry_run: true, limit: 1, after: first.next })).body.data;
    const last = (await replan({ dry_run: true, limit: 1, after: second.next })).body.data;
    expect({ ...first.changes, ...second.changes }).toEqual(
      Object.fromEntries(
        ['a', 'b'].map((name) => [
          `${at.accessor}/${name}`,
          {
            create: [{ sub_key: '', external_name: `new/${name}` }],
            remove: [{ sub_key: '', external_name: `secrets/${at.accessor}/${name}` }],
          },
        ]),
      ),
    );
    expect(last).toEqual({ changes: {}, refused: {} });
    expect(await at.lines()).toEqual(before);
    expect(await hasEnded()).toBe(true);
  });

  test('shows what would be refused', async () => {
    await synced({ a: { 'not allowed': 'v' } });
    await patch({ secret_name_template: '{{ .SecretKey }}', granularity: 'secret-key' });
    const { changes, refused } = (await replan({ dry_run: true })).body.data;
    expect([changes, refused]).toEqual([
      {},
      { [`${at.accessor}/a`]: expect.stringContaining('not allowed') },
    ]);
  });
});

test('needs `update`, an existing destination, and no purge', async () => {
  const creator = testCaller({ policies: ['ci'], grants: ['create'] });
  expect((await sync.call('POST', `${at.path}/replan`, {}, creator)).status).toBe(403);
  expect((await sync.call('POST', `${at.path}-none/replan`)).status).toBe(404);
  await synced({ a: { k: 'v' } });
  await sync.call('DELETE', `${at.path}?purge=true`);
  expect((await replan()).status).toBe(409);
});
