import { describe, expect, test } from '@jest/globals';
import { callerWith, useSecrets } from './secrets-for-test.ts';

const secrets = useSecrets();
const { call } = secrets;
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/;
const write = (path: string, value: object, options?: object) =>
  call('POST', `/kv/data/${path}`, { data: value, ...(options && { options }) });

describe('writing and reading', () => {
  test('returns the value and metadata of the version in the documented shape', async () => {
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

  test.each([[null], [[]], ['text'], [7], [undefined]])('refuses %j as a value with 400', async (data) => {
    const answer = await call('POST', '/kv/data/bad', { data });
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toContain('data');
    expect((await call('GET', '/kv/metadata/bad')).status).toBe(404);
  });

  test('returns special keys and values unchanged', async () => {
    const text = '{"__proto__":{"x":1},"\\u0000":"😀","":"","ä/ö":true,"constructor":null}';
    const value = JSON.parse(text);
    expect((await write('odd', value)).status).toBe(200);
    const read = await call('GET', '/kv/data/odd');
    expect(JSON.stringify(read.body.data.data)).toBe(text);
  });

  test.each(['', 'a//b', '/a', 'a%0Ab', 'a/', 'y'.repeat(2_049)])(
    'refuses the path %j with 400, naming the field',
    async (path) => {
      expect(await write(path, { a: 1 })).toMatchObject({
        status: 400,
        body: { errors: [expect.stringMatching(/^path: must /)] },
      });
    },
  );

  test.each(['a%E2%80%8Bb', 'a%C2%A0b', '%EF%BB%BFa', 'a%E2%80%AEb'])(
    'refuses to create a secret with invisible characters in its path: %s',
    async (path) => {
      for (const kind of ['data', 'metadata'])
        expect(await call('POST', `/kv/${kind}/${path}`, { data: {} })).toMatchObject({
          status: 400,
          body: { errors: ['path: must not contain invisible characters'] },
        });
    },
  );

  test('reads and deletes a secret that was given such a path earlier', async () => {
    await call('POST', '/kv/metadata/earlier', { max_versions: 3 });
    await secrets.db.query("update secrets.secrets set path = 'ear\u200blier' where path = 'earlier'");
    const path = '/kv/metadata/ear%E2%80%8Blier';
    expect((await call('GET', path)).status).toBe(200);
    expect((await call('PATCH', path, { max_versions: 4 })).status).toBe(204);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
  });

  test('refuses NUL in a path with 400', async () => {
    expect((await write('a%00b', { a: 1 })).status).toBe(400);
  });

  test('accepts paths of 2,048 bytes and any printable characters', async () => {
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

  test('ignores an unknown field and names it in a warning', async () => {
    const answer = await call('POST', '/kv/data/unknown', { data: {}, colour: 'red' });
    expect(answer.body.warnings).toEqual(['unknown field colour was ignored']);
  });

  test.each<[string, string, object, RegExp]>([
    ['POST', 'data', { data: { k: 2 }, cas: 0 }, /^cas: is not supported here/],
    ['POST', 'data', { data: { k: 2 }, options: { metadata_cas: 0 } }, /^options\.metadata_cas: /],
    ['PATCH', 'data', { data: { k: 2 }, metadata_cas: 1 }, /^metadata_cas: /],
    ['POST', 'metadata', { custom_metadata: { a: 'b' }, metadata_cas: 7 }, /^metadata_cas: /],
    [
      'PATCH',
      'metadata',
      { custom_metadata: { a: 'b' }, metadata_cas_required: true },
      /^metadata_cas_required: /,
    ],
    ['DELETE', 'metadata', { cas: 1 }, /^cas: /],
  ])('refuses a condition that it does not know: %s %s %j', async (method, kind, body, sentence) => {
    const before = (await write('conditions', { k: 1 })).body.data.version;
    const refused = await call(method, `/kv/${kind}/conditions`, body);
    expect([refused.status, refused.body.errors]).toEqual([400, [expect.stringMatching(sentence)]]);
    const { data } = (await call('GET', '/kv/metadata/conditions')).body;
    expect([data.current_version, data.custom_metadata]).toEqual([before, null]);
  });

  test('names the fields of a body that the endpoint does not use in a warning', async () => {
    await write('body', { a: 1 });
    const deleted = await call('DELETE', '/kv/data/body', { versions: [1] });
    expect([deleted.status, deleted.body.warnings]).toEqual([200, ['unknown field versions was ignored']]);
  });

  test('needs `create` for a new secret and `update` for an existing one', async () => {
    const creator = callerWith('create');
    const updater = callerWith('update');
    expect((await call('POST', '/kv/data/grants', { data: {} }, updater)).status).toBe(403);
    expect((await call('POST', '/kv/data/grants', { data: {} }, creator)).status).toBe(200);
    expect((await call('POST', '/kv/data/grants', { data: {} }, creator)).status).toBe(403);
    expect((await call('POST', '/kv/data/grants', { data: {} }, updater)).status).toBe(200);
  });

  test('accepts PUT wherever POST is', async () => {
    expect((await call('PUT', '/kv/data/put', { data: { a: 1 } })).body.data.version).toBe(1);
    expect((await call('PUT', '/kv/destroy/put', { versions: '1' })).status).toBe(204);
  });
});

describe('an unknown path', () => {
  test('is 404 without a sentence for a secret or version that does not exist', async () => {
    await write('there', { a: 1 });
    for (const path of [
      '/kv/data/nothing',
      '/kv/data/there?version=2',
      '/kv/metadata/nothing',
      '/kv/subkeys/no',
    ])
      expect(await call('GET', path)).toMatchObject({ status: 404, body: { errors: [] } });
  });

  test('is 404 with a sentence where nothing is mounted', async () => {
    const sentence = async (path: string) => (await call('GET', path)).body.errors[0];
    expect(await sentence('/nowhere/data/a')).toBe('nothing is mounted at this path');
    expect(await sentence('/sys/unknown')).toBe('no such path');
  });

  test.each([
    ['GET', '/kv/there'],
    ['GET', '/kv'],
    ['LIST', '/kv/'],
    ['LIST', '/kv/folder'],
  ])('is 404 with the paths below a mount for %s %s', async (method, path) => {
    const answer = await call(method, path);
    expect(answer.status).toBe(404);
    expect(answer.body.errors[0]).toMatch(/data\/.*metadata\//);
  });

  test.each(['LIST', 'GET'])('is 405 for detailed lists, which do not exist: %s', async (method) => {
    expect((await call(method, '/kv/detailed-metadata/a')).status).toBe(405);
  });

  test('is 405 with the supported methods for another method', async () => {
    const refused = await call('PATCH', '/kv/undelete/a', {});
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'POST, PUT']);
    const config = await call('DELETE', '/kv/config');
    expect([config.status, config.headers.get('allow')]).toEqual([405, 'GET, POST, PUT']);
  });
});

describe('check-and-set', () => {
  test('0 only creates; another number must be the current version', async () => {
    expect((await write('cas', { a: 1 }, { cas: 1 })).status).toBe(400);
    expect((await write('cas', { a: 1 }, { cas: 0 })).status).toBe(200);
    const again = await write('cas', { a: 2 }, { cas: 0 });
    expect(again).toMatchObject({
      status: 400,
      body: { errors: ['check-and-set parameter did not match the current version'] },
    });
    expect((await write('cas', { a: 2 }, { cas: '1' })).body.data.version).toBe(2);
  });

  test('null is the same as an absent number', async () => {
    await write('cas-null', { a: 1 });
    expect((await write('cas-null', { a: 2 }, { cas: null })).body.data.version).toBe(2);
    const options = await call('POST', '/kv/data/cas-null', { data: {}, options: null });
    expect(options.body.data.version).toBe(3);
  });

  test('is required if the secret or the mount says so', async () => {
    await call('POST', '/kv/metadata/required', { cas_required: true });
    const refused = await write('required', { a: 1 });
    expect(refused.body.errors).toEqual(['check-and-set parameter required for this call']);
    expect((await write('required', { a: 1 }, { cas: 0 })).status).toBe(200);
    await call('POST', '/sys/mounts/strict', { type: 'kv-v2', config: { cas_required: 'true' } });
    expect((await call('POST', '/strict/data/a', { data: {} })).status).toBe(400);
    expect((await call('POST', '/strict/data/a', { data: {}, options: { cas: 0 } })).status).toBe(200);
  });
});

describe('a patch', () => {
  test('merges, removes what is null, and writes a new version', async () => {
    await write('patched', { a: 1, b: { c: 1, d: 2 }, e: [1] });
    const answer = await call('PATCH', '/kv/data/patched', { data: { a: null, b: { c: 5 }, e: { f: 1 } } });
    expect(answer.body.data.version).toBe(2);
    const read = await call('GET', '/kv/data/patched');
    expect(read.body.data.data).toEqual({ b: { c: 5, d: 2 }, e: { f: 1 } });
  });

  test('is 404 without a readable newest version, and 400 if check-and-set does not match', async () => {
    expect((await call('PATCH', '/kv/data/no-patch', { data: {} })).status).toBe(404);
    await write('patch-cas', { a: 1 });
    const stale = { data: { a: 2 }, options: { cas: 4 } };
    expect((await call('PATCH', '/kv/data/patch-cas', stale)).status).toBe(400);
    await call('DELETE', '/kv/data/patch-cas');
    expect(await call('PATCH', '/kv/data/patch-cas', { data: { a: 2 } })).toMatchObject({
      status: 404,
      body: { data: { data: null, metadata: { version: 1 } } },
    });
  });

  test('is 413 if it would make the secret exceed 1 MiB', async () => {
    const half = 'x'.repeat(600_000);
    await write('large', { a: half });
    const grown = await call('PATCH', '/kv/data/large', { data: { b: half } });
    expect([grown.status, grown.body.errors]).toEqual([413, ['data: the secret would exceed 1 MiB']]);
    const replaced = await call('PATCH', '/kv/data/large', { data: { a: null, b: half } });
    expect(replaced.body.data.version).toBe(2);
  });
});

test('subkeys returns the keys without values, down to `depth` levels', async () => {
  await write('sub', { a: { b: { c: 1 } }, d: [1], e: {} });
  const of = async (query: string) => (await call('GET', `/kv/subkeys/sub${query}`)).body.data.subkeys;
  expect(await of('')).toEqual({ a: { b: { c: null } }, d: null, e: {} });
  expect(await of('?depth=1')).toEqual({ a: null, d: null, e: null });
  expect(await of('?depth=2&version=1')).toEqual({ a: { b: null }, d: null, e: {} });
});
