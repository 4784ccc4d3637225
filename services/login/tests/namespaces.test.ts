import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { type LoginForTest, startLoginForTest } from './login-for-test.ts';

let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
});
afterAll(() => login.stop());

/** Creates a namespace and returns a root caller within it. */
async function createNamespace(path: string, body: object = {}): Promise<Caller> {
  const created = await login.call('POST', `/sys/namespaces/${path}`, body);
  expect(created.status).toBe(200);
  return testCaller({ ...login.root, namespace: { id: created.body.data.id, path } });
}
const remove = (path: string) => login.call('DELETE', `/sys/namespaces/${path}`);
const metadataOf = async (path: string) =>
  (await login.call('GET', `/sys/namespaces/${path}`)).body.data.custom_metadata;

describe('namespaces', () => {
  test('are created below an existing one', async () => {
    expect((await login.call('POST', '/sys/namespaces/missing/a')).status).toBe(400);
    const parent = await createNamespace('parent');
    const child = await login.call('PUT', '/sys/namespaces/a', {}, parent);
    expect(child.body.data).toMatchObject({ path: 'parent/a/', custom_metadata: {} });
  });

  test('take custom metadata as pairs, as command lines write it', async () => {
    await createNamespace('pairs', { custom_metadata: ['team=QA', 'a=1'] });
    expect(await metadataOf('pairs')).toEqual({ team: 'QA', a: '1' });
    await login.call('PATCH', '/sys/namespaces/pairs', { custom_metadata: 'a=2' });
    expect(await metadataOf('pairs')).toEqual({ team: 'QA', a: '2' });
  });

  test('are listed by their parent, page by page; an empty list is not found', async () => {
    const listed = await createNamespace('listed');
    expect((await login.call('LIST', '/sys/namespaces')).body.data.keys).toContain('admin/');
    expect((await login.call('LIST', '/sys/namespaces', undefined, listed)).status).toBe(404);
    for (const name of ['a', 'b', 'a/below']) await createNamespace(`listed/${name}`);
    const keys = async (query: string) =>
      (await login.call('LIST', `/sys/namespaces${query}`, undefined, listed)).body.data.keys;
    expect(await keys('')).toEqual(['a/', 'b/']);
    expect(await keys('?limit=1')).toEqual(['a/']);
    expect(await keys('?limit=1&after=a')).toEqual(['b/']);
  });

  test('that do not fit on a page continue where a warning says', async () => {
    const listed = await createNamespace('paged');
    for (const name of ['a', 'a-b', 'b']) await createNamespace(`paged/${name}`);
    const list = async (query: string) =>
      (await login.call('LIST', `/sys/namespaces${query}`, undefined, listed)).body;
    const first = await list('?limit=1');
    expect(first.data.keys).toEqual(['a/']);
    expect(first.warnings).toEqual([expect.stringMatching(/ after=a%2F$/)]);
    expect(await list('?limit=2&after=a%2F')).toMatchObject({
      data: { keys: ['a-b/', 'b/'] },
      warnings: null,
    });
  });

  test('are refused with 409 if a mount has the name', async () => {
    await login.db.query(
      `insert into secrets.mounts (namespace_id, path, accessor) values ('root', 'store/kv', 'kv_store')`,
    );
    const { status, body } = await login.call('POST', '/sys/namespaces/store');
    expect([status, body.errors]).toEqual([
      409,
      ['path is already in use: there is a mount at or below store/'],
    ]);
  });

  test('cannot be managed from within as the namespace root (GHSA-mwr2-wmgp-crj6)', async () => {
    const inside = await createNamespace('victim', { custom_metadata: { a: '1' } });
    const sent: [string, string, object?][] = [
      ['GET', 'root'],
      ['PATCH', 'root', { custom_metadata: { a: '2' } }],
      ['DELETE', 'root'],
      ['POST', 'root'],
      ['DELETE', 'root/victim'],
    ];
    for (const [method, path, body] of sent) {
      const { status } = await login.call(method, `/sys/namespaces/${path}`, body, inside);
      expect([method, path, [400, 404].includes(status)]).toEqual([method, path, true]);
    }
    expect(await metadataOf('victim')).toEqual({ a: '1' });
    expect((await login.call('GET', '/sys/namespaces/admin')).status).toBe(200);
  });

  test.each(['sys', 'Root', '-x', 'a b', 'x/auth'])('refuses the name %s', async (name) => {
    expect((await login.call('POST', `/sys/namespaces/${encodeURIComponent(name)}`)).status).toBe(400);
  });
});

describe('custom metadata', () => {
  const custom_metadata = { x: '1', y: '2' };

  test('is kept by a write without it, and replaced by one with it', async () => {
    await createNamespace('written', { custom_metadata });
    await login.call('POST', '/sys/namespaces/written', {});
    expect(await metadataOf('written')).toEqual(custom_metadata);
    await login.call('POST', '/sys/namespaces/written', { custom_metadata: { z: '3' } });
    expect(await metadataOf('written')).toEqual({ z: '3' });
  });

  test('is changed by a merge patch, in which null removes a name', async () => {
    await createNamespace('patched', { custom_metadata });
    const patch = { custom_metadata: { x: null, z: '3' } };
    const { body } = await login.call('PATCH', '/sys/namespaces/patched', patch);
    expect(body.data.custom_metadata).toEqual({ y: '2', z: '3' });
  });

  test.each(['POST', 'PATCH'])('is cleared by %s with null', async (method) => {
    await createNamespace(`cleared-${method}`, { custom_metadata });
    const body = { custom_metadata: null };
    expect((await login.call(method, `/sys/namespaces/cleared-${method}`, body)).status).toBe(200);
    expect(await metadataOf(`cleared-${method}`)).toEqual({});
  });

  test('has at most 64 names', async () => {
    const names = Array.from({ length: 65 }, (_, index) => [`n${index}`, '']);
    await createNamespace('bounded', {});
    for (const method of ['POST', 'PATCH']) {
      const body = { custom_metadata: Object.fromEntries(names) };
      expect((await login.call(method, '/sys/namespaces/bounded', body)).status).toBe(400);
    }
  });
});

describe('deleting a namespace', () => {
  test('also deletes its tokens', async () => {
    const caller = await createNamespace('with-token');
    const created = await login.call('POST', '/auth/token/create', { policies: 'dev' }, caller);
    const { client_token: token } = created.body.auth;
    expect((await login.call('POST', '/auth/token/lookup', { token })).status).toBe(200);
    expect((await remove('with-token')).status).toBe(200);
    expect((await login.call('POST', '/auth/token/lookup', { token })).status).toBe(404);
    expect((await login.call('GET', '/sys/namespaces/with-token')).status).toBe(404);
  });

  test('succeeds if it does not exist, with a warning', async () => {
    const { status, body } = await remove('nowhere');
    expect([status, body.data, body.warnings]).toEqual([
      200,
      { status: 'deleted' },
      ['there was no such namespace'],
    ]);
  });

  test('is refused while it holds namespaces', async () => {
    await createNamespace('above');
    await createNamespace('above/below');
    const { status, body } = await remove('above');
    expect([status, body.errors]).toEqual([409, ['the namespace still holds namespaces; delete them first']]);
    expect((await remove('above/below')).status).toBe(200);
    expect((await remove('above')).status).toBe(200);
  });

  test('is refused while it holds auth mounts', async () => {
    const caller = await createNamespace('with-auth');
    await login.call('POST', '/sys/auth/cloudB', { type: 'cloudB' }, caller);
    const { status, body } = await remove('with-auth');
    expect([status, body.errors]).toEqual([
      409,
      ['the namespace still holds auth mounts; disable them first'],
    ]);
    await login.call('DELETE', '/sys/auth/cloudB', undefined, caller);
    expect((await remove('with-auth')).status).toBe(200);
  });

  test.each([
    ['mounts', 'disable', "insert into secrets.mounts (namespace_id, path, accessor) values ($1, 'kv', $2)"],
    [
      'sync destinations',
      'delete',
      `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
       values ($1, 'held', 'cloudA-sm', $2, '{}')`,
    ],
  ])('is refused while it holds %s, and changes nothing', async (what, verb, statement) => {
    const path = `with-${verb}`;
    const caller = await createNamespace(path);
    const policy = 'path "a" { capabilities = ["read"] }';
    await login.call('PUT', '/sys/policies/acl/p', { policy }, caller);
    await login.db.query(statement, [caller.namespace.id, randomUUID()]);
    const { status, body } = await remove(path);
    expect([status, body.errors]).toEqual([409, [`the namespace still holds ${what}; ${verb} them first`]]);
    expect((await login.call('GET', '/sys/policies/acl/p', undefined, caller)).status).toBe(200);
  });

  test('ignores disabled mounts, whose secrets are still being purged', async () => {
    const { namespace } = await createNamespace('purging');
    await login.db.query(
      `insert into secrets.mounts (namespace_id, path, accessor, disabled_at) values ($1, 'kv', 'kv_purging', now())`,
      [namespace.id],
    );
    expect((await remove('purging')).status).toBe(200);
  });

  test('takes its path relative to the namespace of the request', async () => {
    const caller = await createNamespace('relative');
    const { namespace } = await createNamespace('relative/below');
    await login.db.query(
      "insert into secrets.mounts (namespace_id, path, accessor) values ($1, 'kv', 'kv_relative')",
      [namespace.id],
    );
    expect((await login.call('DELETE', '/sys/namespaces/below', undefined, caller)).status).toBe(409);
    await login.db.query('delete from secrets.mounts where namespace_id = $1', [namespace.id]);
    expect((await login.call('DELETE', '/sys/namespaces/below', undefined, caller)).status).toBe(200);
  });

  test('is refused for the administrative one', async () => {
    expect((await login.call('GET', '/sys/namespaces/admin')).body.data.id).toBe('admin');
    expect((await remove('admin')).status).toBe(400);
  });

  test('is refused with a token of that namespace', async () => {
    const { namespace } = await createNamespace('own');
    const own = testCaller({ tokenNamespace: namespace });
    expect((await login.call('DELETE', '/sys/namespaces/own', undefined, own)).status).toBe(400);
  });
});
