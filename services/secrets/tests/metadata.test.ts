import { describe, expect, test } from '@jest/globals';
import { callerWith, useSecrets } from './secrets-for-test.ts';

const secrets = useSecrets();
const { call } = secrets;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/;
const write = (path: string, value: object) => call('POST', `/kv/data/${path}`, { data: value });
const read = async (path: string) => (await call('GET', `/kv/metadata/${path}`)).body.data;

describe('metadata', () => {
  test('can be written before the first version, and is returned in the documented shape', async () => {
    const custom_metadata = { owner: 'ann', team: 'x' };
    const given = { custom_metadata, delete_version_after: '3h25m19s', max_versions: '5' };
    expect((await call('POST', '/kv/metadata/meta', given)).status).toBe(204);
    expect(await read('meta')).toEqual({
      cas_required: false,
      created_time: expect.stringMatching(time),
      current_version: 0,
      custom_metadata,
      delete_version_after: '3h25m19s',
      max_versions: 5,
      oldest_version: 0,
      updated_time: expect.stringMatching(time),
      versions: {},
    });
    expect((await call('GET', '/kv/data/meta')).status).toBe(404);
    expect((await write('meta', {})).body.data.custom_metadata).toEqual(custom_metadata);
  });

  test('takes `custom_metadata` as pairs, as command lines write it', async () => {
    await call('POST', '/kv/metadata/pairs', { custom_metadata: ['owner=ann', 'team=x=y'] });
    expect(await read('pairs')).toMatchObject({ custom_metadata: { owner: 'ann', team: 'x=y' } });
    await call('PATCH', '/kv/metadata/pairs', { custom_metadata: 'team=z' });
    expect(await read('pairs')).toMatchObject({ custom_metadata: { owner: 'ann', team: 'z' } });
    const { status, body } = await call('POST', '/kv/metadata/pairs', { custom_metadata: 'owner' });
    expect([status, body.errors]).toEqual([400, ['custom_metadata: must be a map of strings']]);
  });

  test('keeps omitted fields and replaces `custom_metadata` with POST', async () => {
    await call('POST', '/kv/metadata/post', { custom_metadata: { a: '1' }, max_versions: 5 });
    await call('POST', '/kv/metadata/post', { custom_metadata: { b: '2' } });
    expect(await read('post')).toMatchObject({ custom_metadata: { b: '2' }, max_versions: 5 });
  });

  test('is merged with PATCH, where null removes a key or restores the default of a field', async () => {
    const given = { custom_metadata: { owner: 'ann', team: 'x' }, max_versions: 5, cas_required: true };
    await call('POST', '/kv/metadata/patch', { ...given, delete_version_after: '1h' });
    await call('PATCH', '/kv/metadata/patch', {
      custom_metadata: { owner: null, colour: 'red' },
      max_versions: null,
    });
    const merged = { custom_metadata: { team: 'x', colour: 'red' }, max_versions: 0, cas_required: true };
    expect(await read('patch')).toMatchObject({ ...merged, delete_version_after: '1h0m0s' });
    await call('PATCH', '/kv/metadata/patch', { cas_required: null, delete_version_after: null });
    const defaults = { cas_required: false, delete_version_after: '0s' };
    expect(await read('patch')).toMatchObject({ custom_metadata: merged.custom_metadata, ...defaults });
  });

  test.each(['POST', 'PATCH'])('loses its custom metadata with %s null', async (method) => {
    const path = `cleared-${method}`;
    await call('POST', `/kv/metadata/${path}`, { custom_metadata: { a: '1' }, max_versions: 5 });
    expect((await call(method, `/kv/metadata/${path}`, { custom_metadata: null })).status).toBe(204);
    expect(await read(path)).toMatchObject({ custom_metadata: null, max_versions: 5 });
  });

  test('needs `create` for a new secret and `update` for an existing one', async () => {
    const given = { max_versions: 3 };
    expect((await call('POST', '/kv/metadata/grants', given, callerWith('update'))).status).toBe(403);
    expect((await call('POST', '/kv/metadata/grants', given, callerWith('create'))).status).toBe(204);
    expect((await call('POST', '/kv/metadata/grants', given, callerWith('create'))).status).toBe(403);
    expect((await call('POST', '/kv/metadata/grants', given, callerWith('update'))).status).toBe(204);
  });

  test('is deleted with all versions, and version numbers start again at 1', async () => {
    await write('all', { a: 1 });
    await write('all', { a: 2 });
    expect((await call('DELETE', '/kv/metadata/all')).status).toBe(204);
    expect(await call('GET', '/kv/data/all')).toMatchObject({ status: 404, body: { errors: [] } });
    expect((await write('all', { a: 3 })).body.data.version).toBe(1);
  });
});

test('a warning says that a secret cannot do without the check-and-set that its mount requires', async () => {
  await call('POST', '/sys/mounts/strict', { type: 'kv', config: { cas_required: true } });
  const warning = 'cas_required: false has no effect, because the mount requires check-and-set';
  for (const method of ['POST', 'PATCH']) {
    const overruled = await call(method, '/strict/metadata/a', { cas_required: false });
    expect([overruled.status, overruled.body.warnings]).toEqual([200, [warning]]);
    expect((await call(method, '/strict/metadata/a', { cas_required: true })).status).toBe(204);
    expect((await call(method, '/strict/metadata/a', { max_versions: 3 })).status).toBe(204);
  }
  expect((await call('POST', '/kv/metadata/free', { cas_required: false })).status).toBe(204);
});

describe('custom metadata', () => {
  const many = (keys: number) =>
    Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 'v']));

  test.each([
    ['65 keys', many(65)],
    ['a key of 129 bytes', { ['k'.repeat(129)]: 'v' }],
    ['a value of 513 bytes', { k: 'v'.repeat(513) }],
    ['a number', { k: 1 }],
    ['NUL in a value', { k: '\0' }],
    ['a line break in a value', { k: 'a\nb' }],
    ['an invisible character in a key', { 'a\u200bb': 'v' }],
    ['a string', 'text'],
  ])('is refused with 400 if it is or has %s', async (_, custom_metadata) => {
    const answer = await call('POST', '/kv/metadata/refused', { custom_metadata });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toMatch(/^custom_metadata/);
  });

  test('is limited to 64 keys, also by a patch', async () => {
    const patch = async (custom_metadata: object) =>
      (await call('PATCH', '/kv/metadata/bounds', { custom_metadata })).body.errors[0];
    expect((await call('POST', '/kv/metadata/bounds', { custom_metadata: many(64) })).status).toBe(204);
    expect(await patch({ more: 'v' })).toBe('custom_metadata: must have at most 64 keys');
    expect(await patch({ k: 1 })).toBe('custom_metadata.k: must be a string');
    expect(await patch({ ['k'.repeat(129)]: 'v' })).toMatch(/^custom_metadata: each key must be at most 128/);
  });

  test('keeps invisible characters that are older than the rule, until a patch removes them', async () => {
    await call('POST', '/kv/metadata/older', { custom_metadata: { a: '1' } });
    await secrets.db.query(
      `update secrets.secrets set custom_metadata = '{"a\\u200b":"1\\u200b"}' where path = 'older'`,
    );
    const patch = async (custom_metadata: object) =>
      (await call('PATCH', '/kv/metadata/older', { custom_metadata })).status;
    expect(await patch({ 'b\u200b': '1' })).toBe(400);
    expect(await patch({ b: '2' })).toBe(204);
    expect(await patch({ 'a\u200b': null })).toBe(204);
    expect((await read('older')).custom_metadata).toEqual({ b: '2' });
  });

  test('of a secret that does not exist is 404 to a patch', async () => {
    expect((await call('PATCH', '/kv/metadata/none', {})).status).toBe(404);
  });
});

describe('a list', () => {
  test('returns one level in byte order, with both a secret and a folder of the same name', async () => {
    for (const path of ['l/a', 'l/a/x', 'l/a-b', 'l/a/y/z', 'l/a0', 'l/b/c', 'l/Z', 'l2/x'])
      await write(path, {});
    const keys = async (path: string) => (await call('LIST', `/kv/metadata/${path}`)).body.data.keys;
    expect(await keys('l')).toEqual(['Z', 'a', 'a-b', 'a/', 'a0', 'b/']);
    expect(await keys('l/a/')).toEqual(['x', 'y/']);
    expect(await keys('')).toEqual(expect.arrayContaining(['l/', 'l2/']));
    expect((await call('LIST', '/kv/metadata')).status).toBe(200);
  });

  test('is 404 for a secret, and 400 for an invalid folder', async () => {
    await write('single', {});
    expect((await call('LIST', '/kv/metadata/single')).status).toBe(404);
    expect((await call('LIST', '/kv/metadata/a//')).status).toBe(400);
  });

  test('names the start of the next page in a warning', async () => {
    for (const name of ['Z', 'a', 'a/x', 'b/c']) await write(`pages/${name}`, {});
    const page = await call('LIST', '/kv/metadata/pages?limit=3');
    expect(page.body.data.keys).toEqual(['Z', 'a', 'a/']);
    expect(page.body.warnings[0]).toContain('after=a%2F');
    const rest = await call('LIST', '/kv/metadata/pages?limit=3&after=a%2F');
    expect(rest.body).toMatchObject({ data: { keys: ['b/'] }, warnings: null });
  });
});

test('the config of a mount keeps omitted fields, and is 404 below its path', async () => {
  await call('POST', '/sys/mounts/configured', { type: 'kv' });
  expect((await call('POST', '/configured/config', { max_versions: 3 })).status).toBe(204);
  await call('POST', '/configured/config', { delete_version_after: '1h' });
  const expected = { cas_required: false, delete_version_after: '1h0m0s', max_versions: 3 };
  expect((await call('GET', '/configured/config')).body.data).toEqual(expected);
  expect((await call('GET', '/configured/config/x')).status).toBe(404);
});
