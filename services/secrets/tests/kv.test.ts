import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.call('POST', '/sys/mounts/kv', { type: 'kv', options: { version: '2' } });
});
afterAll(() => secrets.stop());

const call: SecretsForTest['call'] = (...given) => secrets.call(...given);
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/;
const write = (path: string, value: object, options?: object) =>
  call('POST', `/kv/data/${path}`, { data: value, ...(options && { options }) });

describe('writing and reading', () => {
  test('a first version is written and read back in the known shape', async () => {
    const written = await write('shape/a', { user: 'x', deep: { list: [1, null] } });
    const metadata = {
      created_time: expect.stringMatching(time),
      custom_metadata: null,
      deletion_time: '',
      destroyed: false,
      version: 1,
    };
    expect(written.status).toBe(200);
    expect(written.body.data).toEqual(metadata);
    const read = await call('GET', '/kv/data/shape/a');
    expect(read.body.data).toEqual({ data: { user: 'x', deep: { list: [1, null] } }, metadata });
  });

  test('what does not exist is 404 with no sentence; so is a version that does not', async () => {
    await write('there', { a: 1 });
    for (const path of [
      '/kv/data/nothing',
      '/kv/data/there?version=2',
      '/kv/metadata/nothing',
      '/kv/subkeys/no',
    ])
      expect(await call('GET', path)).toMatchObject({ status: 404, body: { errors: [] } });
    expect((await call('GET', '/nowhere/data/a')).status).toBe(404);
    expect((await call('GET', '/sys/unknown')).status).toBe(404);
  });

  test('a path without data/ says where a versioned mount answers', async () => {
    const answer = await call('GET', '/kv/there');
    expect(answer.status).toBe(404);
    expect(answer.body.errors[0]).toContain('data/');
  });

  test.each([
    ['GET', '/kv'],
    ['LIST', '/kv/'],
    ['LIST', '/kv/folder'],
  ])('and so does %s %s', async (method, path) => {
    const answer = await call(method, path);
    expect([answer.status, answer.body.errors[0]]).toEqual([404, expect.stringContaining('metadata/')]);
  });

  test('a verb that a path does not take is 405, with those that it takes', async () => {
    const refused = await call('PATCH', '/kv/undelete/a', {});
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, PUT']);
    const config = await call('DELETE', '/kv/config');
    expect([config.status, config.headers.get('allow')]).toEqual([405, 'GET, POST, PUT']);
  });

  test('what is sent to an operation without a body is named: it does nothing', async () => {
    await write('body', { a: 1 });
    const deleted = await call('DELETE', '/kv/data/body', { versions: [1] });
    expect([deleted.status, deleted.body.warnings]).toEqual([200, ['unknown field versions was ignored']]);
  });

  test.each([[null], [[]], ['text'], [7], [undefined]])('data %j is refused', async (data) => {
    const answer = await call('POST', '/kv/data/bad', { data });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toContain('data');
    expect((await call('GET', '/kv/metadata/bad')).status).toBe(404);
  });

  test('keys and values that trip others come back as they were', async () => {
    const text = '{"__proto__":{"x":1},"\\u0000":"\\ud800","":"","ä/ö":true,"constructor":null}';
    const value = JSON.parse(text);
    expect((await write('odd', value)).status).toBe(200);
    const read = await call('GET', '/kv/data/odd');
    expect(JSON.stringify(read.body.data.data)).toBe(text);
  });

  test.each(['a//b', '/a', 'a%00b', 'a%0Ab', 'a/', 'y'.repeat(2_049)])('path %j is refused', async (path) => {
    expect((await write(path, { a: 1 })).status).toBe(400);
  });

  test('the longest path and any other letters are taken', async () => {
    const paths = [
      `long/${'%C3%A4'.repeat(1_021)}`,
      'sp%20ace/%25/%3F',
      'data/data/metadata/config',
      'a:b*c',
    ];
    for (const path of paths) {
      expect((await write(path, { a: 1 })).status).toBe(200);
      expect((await call('GET', `/kv/data/${path}`)).status).toBe(200);
    }
  });

  test('an unknown field is named and ignored', async () => {
    const answer = await call('POST', '/kv/data/unknown', { data: {}, colour: 'red' });
    expect(answer.body.warnings).toEqual(['unknown field colour was ignored']);
  });

  test('creating wants `create`, and a further version `update`', async () => {
    const only = (...grants: never[]) => testCaller({ grants, policies: [] });
    const creator = only('create' as never);
    const updater = only('update' as never);
    expect((await call('POST', '/kv/data/grants', { data: {} }, updater)).status).toBe(403);
    expect((await call('POST', '/kv/data/grants', { data: {} }, creator)).status).toBe(200);
    expect((await call('POST', '/kv/data/grants', { data: {} }, creator)).status).toBe(403);
    expect((await call('POST', '/kv/data/grants', { data: {} }, updater)).status).toBe(200);
    expect((await call('POST', '/kv/metadata/grants', {}, creator)).status).toBe(403);
    expect((await call('POST', '/kv/metadata/grants2', {}, updater)).status).toBe(403);
    expect((await call('POST', '/kv/destroy/grants', { versions: [1] }, creator)).status).toBe(403);
  });

  test('PUT is the same as POST', async () => {
    expect((await call('PUT', '/kv/data/put', { data: { a: 1 } })).body.data.version).toBe(1);
    expect((await call('PUT', '/kv/destroy/put', { versions: '1' })).status).toBe(204);
  });
});

describe('check-and-set', () => {
  test('0 creates only; a number must be the current one', async () => {
    expect((await write('cas', { a: 1 }, { cas: 1 })).status).toBe(400);
    expect((await write('cas', { a: 1 }, { cas: 0 })).status).toBe(200);
    const again = await write('cas', { a: 2 }, { cas: 0 });
    expect(again).toMatchObject({
      status: 400,
      body: { errors: ['check-and-set parameter did not match the current version'] },
    });
    expect((await write('cas', { a: 2 }, { cas: '1' })).body.data.version).toBe(2);
  });

  test('it can be required, by the secret or by the mount', async () => {
    await call('POST', '/kv/metadata/required', { cas_required: true });
    const refused = await write('required', { a: 1 });
    expect(refused.body.errors).toEqual(['check-and-set parameter required for this call']);
    expect((await write('required', { a: 1 }, { cas: 0 })).status).toBe(200);
    await call('POST', '/sys/mounts/strict', { type: 'kv-v2', config: { cas_required: 'true' } });
    expect((await call('POST', '/strict/data/a', { data: {} })).status).toBe(400);
    expect((await call('POST', '/strict/data/a', { data: {}, options: { cas: 0 } })).status).toBe(200);
  });
});

describe('patch', () => {
  test('merges, removes what is null, and writes a new version', async () => {
    await write('patched', { a: 1, b: { c: 1, d: 2 }, e: [1] });
    const answer = await call('PATCH', '/kv/data/patched', { data: { a: null, b: { c: 5 }, e: { f: 1 } } });
    expect(answer.body.data.version).toBe(2);
    const read = await call('GET', '/kv/data/patched');
    expect(read.body.data.data).toEqual({ b: { c: 5, d: 2 }, e: { f: 1 } });
  });

  test('needs something to patch, and honours check-and-set', async () => {
    expect((await call('PATCH', '/kv/data/no-patch', { data: {} })).status).toBe(404);
    await write('patch-cas', { a: 1 });
    const stale = { data: { a: 2 }, options: { cas: 4 } };
    expect((await call('PATCH', '/kv/data/patch-cas', stale)).status).toBe(400);
    await call('DELETE', '/kv/data/patch-cas');
    expect((await call('PATCH', '/kv/data/patch-cas', { data: { a: 2 } })).status).toBe(404);
  });
});

test('no secret grows over 1 MiB by patches', async () => {
  const half = 'x'.repeat(600_000);
  await write('large', { a: half });
  const grown = await call('PATCH', '/kv/data/large', { data: { b: half } });
  expect([grown.status, grown.body.errors]).toEqual([413, ['data: the secret would exceed 1 MiB']]);
  expect((await call('PATCH', '/kv/data/large', { data: { a: null, b: half } })).body.data.version).toBe(2);
  const kept = await call('GET', '/kv/data/large');
  expect(kept.body.data.metadata.version).toBe(2);
});

describe('delete, undelete, destroy', () => {
  test('a deleted version is 404 with its metadata, and comes back', async () => {
    await write('gone', { a: 1 });
    expect((await call('DELETE', '/kv/data/gone')).status).toBe(204);
    const read = await call('GET', '/kv/data/gone');
    expect(read.status).toBe(404);
    expect(read.body.data.data).toBeNull();
    expect(read.body.data.metadata).toMatchObject({
      version: 1,
      destroyed: false,
      deletion_time: expect.stringMatching(time),
    });
    expect((await call('POST', '/kv/undelete/gone', { versions: [1] })).status).toBe(204);
    expect((await call('GET', '/kv/data/gone')).body.data.metadata.deletion_time).toBe('');
  });

  test('a destroyed version is gone for good, the others stay', async () => {
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
    expect((await call('GET', '/kv/subkeys/destroyed')).body.data.subkeys).toBeNull();
    const { versions } = (await call('GET', '/kv/metadata/destroyed')).body.data;
    expect(versions[1].destroyed).toBe(true);
    expect(versions[2].deletion_time).toMatch(time);
  });

  test.each([undefined, [], ['x'], [0], 'a'])('versions %j are refused', async (versions) => {
    expect((await call('POST', '/kv/delete/destroyed', { versions })).status).toBe(400);
  });

  test('deleting what does not exist is no error', async () => {
    expect((await call('DELETE', '/kv/data/never')).status).toBe(204);
    expect((await call('DELETE', '/kv/metadata/never')).status).toBe(204);
  });

  test('deleting the metadata deletes all, and the numbers begin again', async () => {
    await write('all', { a: 1 });
    await write('all', { a: 2 });
    expect((await call('DELETE', '/kv/metadata/all')).status).toBe(204);
    expect(await call('GET', '/kv/data/all')).toMatchObject({ status: 404, body: { errors: [] } });
    expect((await write('all', { a: 3 })).body.data.version).toBe(1);
  });

  test('a version that is to be deleted later is, in time', async () => {
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

describe('metadata', () => {
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
  });

  test('is written before the first version, patched, and read in the known shape', async () => {
    const custom_metadata = { owner: 'ann', team: 'x' };
    const given = { custom_metadata, delete_version_after: '3h25m19s', max_versions: '5' };
    expect((await call('POST', '/kv/metadata/meta', given)).status).toBe(204);
    await call('PATCH', '/kv/metadata/meta', {
      custom_metadata: { owner: null, colour: 'red' },
      max_versions: null,
    });
    expect((await call('GET', '/kv/metadata/meta')).body.data).toEqual({
      cas_required: false,
      created_time: expect.stringMatching(time),
      current_version: 0,
      custom_metadata: { team: 'x', colour: 'red' },
      delete_version_after: '3h25m19s',
      max_versions: 0,
      oldest_version: 0,
      updated_time: expect.stringMatching(time),
      versions: {},
    });
    expect((await call('GET', '/kv/data/meta')).status).toBe(404);
    expect((await write('meta', {})).body.data.custom_metadata).toEqual({ team: 'x', colour: 'red' });
  });

  test('has bounds', async () => {
    const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v']));
    const bad = [many, { ['k'.repeat(129)]: 'v' }, { k: 'v'.repeat(513) }, { k: 1 }, { k: '\0' }, 'text'];
    for (const custom_metadata of bad) {
      const answer = await call('POST', '/kv/metadata/bounds', { custom_metadata });
      expect([answer.status, answer.body.errors?.[0]]).toEqual([
        400,
        expect.stringContaining('custom_metadata'),
      ]);
    }
    const sentence = async (custom_metadata: object) =>
      (await call('PATCH', '/kv/metadata/shape', { custom_metadata })).body.errors[0];
    expect(await sentence({ k: 1 })).toBe('custom_metadata.k: must be a string');
    expect(await sentence({ ['k'.repeat(129)]: 'v' })).toMatch(
      /^custom_metadata: each key must be at most 128/,
    );
    delete many.k0;
    expect((await call('POST', '/kv/metadata/bounds', { custom_metadata: many })).status).toBe(204);
    const oneMore = await call('PATCH', '/kv/metadata/bounds', { custom_metadata: { more: 'v' } });
    expect(oneMore.status).toBe(400);
    expect((await call('PATCH', '/kv/metadata/none', {})).status).toBe(404);
  });
});

test('subkeys show the keys alone, as deep as asked', async () => {
  await write('sub', { a: { b: { c: 1 } }, d: [1], e: {} });
  const of = async (query: string) => (await call('GET', `/kv/subkeys/sub${query}`)).body.data.subkeys;
  expect(await of('')).toEqual({ a: { b: { c: null } }, d: null, e: {} });
  expect(await of('?depth=1')).toEqual({ a: null, d: null, e: null });
  expect(await of('?depth=2&version=1')).toEqual({ a: { b: null }, d: null, e: {} });
});

describe('lists', () => {
  test('one level of folders, in byte order, a name and a folder of that name both', async () => {
    for (const path of ['l/a', 'l/a/x', 'l/a-b', 'l/a/y/z', 'l/a0', 'l/b/c', 'l/Z', 'l2/x'])
      await write(path, {});
    const keys = async (path: string) => (await call('LIST', `/kv/metadata/${path}`)).body.data.keys;
    expect(await keys('l')).toEqual(['Z', 'a', 'a-b', 'a/', 'a0', 'b/']);
    expect(await keys('l/a/')).toEqual(['x', 'y/']);
    expect(await keys('')).toEqual(expect.arrayContaining(['l/', 'l2/']));
    expect((await call('LIST', '/kv/metadata/l/Z')).status).toBe(404);
    expect((await call('LIST', '/kv/metadata')).status).toBe(200);
  });

  test('come in pages', async () => {
    const page = await call('LIST', '/kv/metadata/l?limit=4');
    expect(page.body.data.keys).toEqual(['Z', 'a', 'a-b', 'a/']);
    expect(page.body.warnings[0]).toContain('after=a%2F');
    const rest = await call('LIST', '/kv/metadata/l?limit=4&after=a%2F');
    expect(rest.body).toMatchObject({ data: { keys: ['a0', 'b/'] }, warnings: null });
  });
});

test('the config of a mount keeps what is left out', async () => {
  await call('POST', '/sys/mounts/configured', { type: 'kv' });
  expect((await call('POST', '/configured/config', { max_versions: 3 })).status).toBe(204);
  await call('POST', '/configured/config', { delete_version_after: '1h' });
  const expected = { cas_required: false, delete_version_after: '1h0m0s', max_versions: 3 };
  expect((await call('GET', '/configured/config')).body.data).toEqual(expected);
});
