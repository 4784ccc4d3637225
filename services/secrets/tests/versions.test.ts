import { describe, expect, test } from '@jest/globals';
import { parseExactly } from '@secrets/domain';
import { callerWith, useSecrets } from './secrets-for-test.ts';

const secrets = useSecrets();
const { call } = secrets;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/;
const write = (path: string, value: object) => call('POST', `/kv/data/${path}`, { data: value });

test('version numbers may have any notation, and the first one that is none is named', async () => {
  await write('notations', { a: 1 });
  const destroy = (json: string) => call('POST', '/kv/delete/notations', parseExactly(json) as object);
  for (const versions of ['[1.0,"1"]', '1.0', '"1, 1"', '1'])
    expect((await destroy(`{"versions":${versions}}`)).status).toBe(204);
  expect((await destroy('{"versions":[1,{},"x"]}')).body.errors).toEqual([
    expect.stringMatching(/^versions\.1: must be /),
  ]);
  expect((await destroy('{"versions":[1.5]}')).status).toBe(400);
  expect((await destroy(`{"versions":"${'1,'.repeat(5_000)}1"}`)).body.errors).toEqual([
    'versions: must have between 1 and 5000 version numbers',
  ]);
});

describe('deleting', () => {
  test('makes a version 404 with its metadata until it is undeleted', async () => {
    await write('deleted', { a: 1 });
    expect((await call('DELETE', '/kv/data/deleted')).status).toBe(204);
    const read = await call('GET', '/kv/data/deleted');
    expect(read.status).toBe(404);
    expect(read.body.data.data).toBeNull();
    expect(read.body.data.metadata).toMatchObject({
      version: 1,
      destroyed: false,
      deletion_time: expect.stringMatching(time),
    });
    expect((await call('POST', '/kv/undelete/deleted', { versions: [1] })).status).toBe(204);
    expect((await call('GET', '/kv/data/deleted')).body.data.metadata.deletion_time).toBe('');
  });

  test('succeeds for a secret that does not exist', async () => {
    expect((await call('DELETE', '/kv/data/never')).status).toBe(204);
    expect((await call('DELETE', '/kv/metadata/never')).status).toBe(204);
  });

  test('happens by itself after `delete_version_after`', async () => {
    await call('POST', '/kv/metadata/short', { delete_version_after: '1h' });
    const { created_time, deletion_time } = (await write('short', { a: 1 })).body.data;
    expect(Date.parse(deletion_time) - Date.parse(created_time)).toBe(3_600_000);
    expect((await call('GET', '/kv/data/short')).status).toBe(200);
    await secrets.db.query(
      `update secrets.versions set deletion_time = deletion_time - interval '1 hour'
        where secret_id = (select id from secrets.secrets where path = 'short')`,
    );
    expect((await call('GET', '/kv/data/short')).status).toBe(404);
  });
});

test('undeleting sets a new deletion time, or none if versions are kept', async () => {
  await call('POST', '/kv/metadata/again', { delete_version_after: '1h' });
  await write('again', { a: 1 });
  await call('DELETE', '/kv/data/again');
  const before = Date.now();
  await call('POST', '/kv/undelete/again', { versions: [1] });
  const { deletion_time } = (await call('GET', '/kv/data/again')).body.data.metadata;
  const seconds = Math.round((Date.parse(deletion_time) - before) / 1_000);
  expect([3_600, 3_601, 3_602]).toContain(seconds);
  await call('POST', '/kv/metadata/again', { delete_version_after: 0 });
  await call('POST', '/kv/undelete/again', { versions: [1] });
  expect((await call('GET', '/kv/data/again')).body.data.metadata.deletion_time).toBe('');
});

test('the expiry of an undeleted version is due at its new deletion time', async () => {
  await call('POST', '/kv/metadata/expiring', { delete_version_after: '1h' });
  await write('expiring', { a: 1 });
  await call('DELETE', '/kv/data/expiring');
  await call('POST', '/kv/undelete/expiring', { versions: [1] });
  const rows = await secrets.db.query(
    `select expires_at = deletion_time as due from secrets.versions
     where secret_id = (select id from secrets.secrets where path = 'expiring')`,
  );
  expect(rows).toEqual([{ due: true }]);
});

test('destroying removes the value of a version permanently and keeps the other versions', async () => {
  await write('destroyed', { a: 1 });
  await write('destroyed', { a: 2 });
  await call('POST', '/kv/destroy/destroyed', { versions: ['1', '77'] });
  await call('POST', '/kv/undelete/destroyed', { versions: [1] });
  const first = await call('GET', '/kv/data/destroyed?version=1');
  expect(first).toMatchObject({
    status: 404,
    body: { data: { data: null, metadata: { destroyed: true } } },
  });
  expect((await call('GET', '/kv/data/destroyed')).body.data.data).toEqual({ a: 2 });
  await call('POST', '/kv/delete/destroyed', { versions: '2' });
  expect(await call('GET', '/kv/subkeys/destroyed')).toMatchObject({
    status: 404,
    body: { data: { subkeys: null, metadata: { version: 2 } } },
  });
  const { versions } = (await call('GET', '/kv/metadata/destroyed')).body.data;
  expect(versions[1].destroyed).toBe(true);
  expect(versions[2].deletion_time).toMatch(time);
});

test.each(['delete', 'undelete', 'destroy'])('%s/ needs `update`', async (change) => {
  await write('grants', { a: 1 });
  const body = { versions: [1] };
  expect((await call('POST', `/kv/${change}/grants`, body, callerWith('create'))).status).toBe(403);
  expect((await call('POST', `/kv/${change}/grants`, body, callerWith('update'))).status).toBe(204);
});

test.each([undefined, null, [], ['x'], [0], 'a'])(
  'refuses %j as version numbers with 400',
  async (versions) => {
    expect(await call('POST', '/kv/delete/a', { versions })).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('versions')] },
    });
  },
);

test('keeps as many versions as the secret says, else the mount, else 10', async () => {
  for (let i = 1; i <= 12; i++) await write('ten', { i });
  const ten = (await call('GET', '/kv/metadata/ten')).body.data;
  expect(ten).toMatchObject({ current_version: 12, oldest_version: 3 });
  expect(Object.keys(ten.versions)).toHaveLength(10);
  await call('POST', '/kv/metadata/ten', { max_versions: 2 });
  await write('ten', { i: 13 });
  const two = (await call('GET', '/kv/metadata/ten')).body.data;
  expect(Object.keys(two.versions)).toEqual(['12', '13']);
  expect((await call('GET', '/kv/data/ten?version=11')).status).toBe(404);
  await call('POST', '/sys/mounts/three', { type: 'kv', config: { max_versions: 3 } });
  for (let i = 1; i <= 5; i++) await call('POST', '/three/data/a', { data: { i } });
  const three = (await call('GET', '/three/metadata/a')).body.data;
  expect(Object.keys(three.versions)).toEqual(['3', '4', '5']);
});
