import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { writePolicy } from '@secrets/access/testing';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { callerIn, type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.db.query(
    "insert into login.namespaces (id, path) values ('team', 'team'), ('other', 'other')",
  );
});
afterAll(() => secrets.stop());

const call: SecretsForTest['call'] = (...given) => secrets.call(...given);
const mount = async (path: string, caller = callerIn('root')) => {
  const answer = await call('POST', `/sys/mounts/${path}`, { type: 'kv' }, caller);
  return [answer.status, ...(answer.body?.errors ?? [])];
};
const move = (from: string, to: string) => call('POST', '/sys/remount', { from, to });

describe('a mount with the name of a namespace', () => {
  test('is refused with 409, also if it has further segments', async () => {
    for (const path of ['team', 'team/kv'])
      expect(await mount(path)).toEqual([409, 'path is already in use: team/ is a namespace']);
    expect(await mount('teams')).toEqual([204]);
    expect(await mount('team', callerIn('other'))).toEqual([204]);
  });
});

describe('moving a mount', () => {
  test('keeps its secrets, ID and accessor, and frees the old path', async () => {
    await mount('old/kv');
    await call('POST', '/old/kv/data/a', { data: { k: 'v' } });
    const before = (await call('GET', '/sys/mounts/old/kv')).body.data;
    const started = await move('old/kv/', '/new');
    const { migration_id: id } = started.body.data;
    expect((await call('GET', `/sys/remount/status/${id}`)).body.data).toEqual({
      migration_id: id,
      migration_info: { source_mount: 'old/kv/', target_mount: 'new/', status: 'success' },
    });
    expect((await call('GET', '/sys/mounts/new')).body.data).toEqual(before);
    expect((await call('GET', '/new/data/a')).body.data.data).toEqual({ k: 'v' });
    expect((await call('GET', '/old/kv/data/a')).status).toBe(404);
    expect(await mount('old/kv')).toEqual([204]);
    expect((await call('GET', '/old/kv/data/a')).status).toBe(404);
  });

  test('is noticed by processes that have cached the mount', async () => {
    const another = await secrets.startAnother();
    await mount('cached');
    await another.call('POST', '/cached/data/a', { data: { k: 1 } });
    await move('cached', 'moved');
    expect((await another.call('GET', '/cached/data/a')).status).toBe(404);
    expect((await another.call('GET', '/moved/data/a')).status).toBe(200);
  });

  test('may go above or below its own path, but not at, above or below another mount', async () => {
    await mount('x/y');
    expect((await move('x/y', 'x')).status).toBe(200);
    expect((await move('x', 'x/y/z')).status).toBe(200);
    await mount('x/other');
    for (const to of ['x', 'x/other', 'x/other/z']) {
      const refused = await move('x/y/z', to);
      expect([refused.status, refused.body.errors]).toEqual([409, ['path is already in use at x/other/']]);
    }
    expect((await move('x/y/z', 'team/kv')).body.errors).toEqual([
      'path is already in use: team/ is a namespace',
    ]);
  });

  test('one of two concurrent moves to a path is refused', async () => {
    for (const path of ['m1', 'm2']) await mount(path);
    const both = await Promise.all(['m1', 'm2'].map((path) => move(path, 'target')));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test.each([
    [{ from: 'nothing', to: 'b' }, 'from: nothing is mounted at nothing/'],
    [{ from: 'auth/cloudB', to: 'auth/b' }, 'from: auth mounts cannot be moved'],
    [{ from: 'teams', to: 'sys/b' }, 'to: sys is reserved'],
    [{ from: 'teams' }, 'to is required'],
  ])('refuses %j', async (body, sentence) => {
    const refused = await call('POST', '/sys/remount', body);
    expect([refused.status, refused.body.errors]).toEqual([400, expect.arrayContaining([sentence])]);
  });

  test('its status is found only in its namespace, and only for the newest move', async () => {
    await mount('s');
    const { migration_id: first } = (await move('s', 's1')).body.data;
    const { migration_id: second } = (await move('s1', 's2')).body.data;
    const status = async (id: string, caller = callerIn('root')) =>
      (await call('GET', `/sys/remount/status/${id}`, undefined, caller)).status;
    expect(await status(second)).toBe(200);
    for (const id of [first, randomUUID()]) expect(await status(id)).toBe(404);
    expect(await status(second, callerIn('team'))).toBe(404);
  });
});

describe('the mounts that a caller can use', () => {
  const caller = testCaller({ policies: ['app'], grants: [] });
  const found = (path: string, asking = caller) =>
    call('GET', `/sys/internal/ui/mounts/${path}`, undefined, asking);

  beforeAll(async () => {
    for (const path of ['used/kv', 'unused']) await mount(path);
    await mount('kv', callerIn('team'));
    await secrets.db.query(
      `insert into login.auth_mounts (namespace_id, path, type, accessor)
       values ('root', 'cloudB', 'cloudB', 'auth_1'), ('root', 'hidden', 'cloudB', 'auth_2')`,
    );
    await writePolicy(secrets.db, 'app', {
      'used/kv/data/app/*': ['read'],
      'auth/cloudB/role/app': ['read'],
      'team/kv/metadata/': ['list'],
    });
  });

  test('are those in which its policies grant anything', async () => {
    expect((await found('used/kv/x/y')).body.data).toMatchObject({
      path: 'used/kv/',
      type: 'kv',
      options: { version: '2' },
    });
    const { data } = (await call('GET', '/sys/internal/ui/mounts', undefined, caller)).body;
    expect(Object.keys(data.secret)).toEqual(['used/kv/']);
    expect(data.auth).toEqual({
      'cloudB/': { type: 'cloudB', accessor: 'auth_1', description: '', options: {} },
    });
  });

  test('a mount without any right and a path without a mount look the same', async () => {
    for (const path of ['unused/x', 'nothing/x'])
      expect(await found(path)).toMatchObject({ status: 403, body: { errors: ['permission denied'] } });
  });

  test('in a namespace below that of the token, the policies have its path', async () => {
    const inTeam = { ...caller, namespace: { id: 'team', path: 'team' } };
    expect((await found('kv/x', inTeam)).body.data.path).toBe('kv/');
    expect((await found('team/kv/x')).body.data.path).toBe('team/kv/');
    const inOther = { ...caller, namespace: { id: 'other', path: 'other' } };
    expect((await found('team/x', inOther)).status).toBe(403);
  });

  test('are none if a policy is not as login has written it', async () => {
    const give = (hash: string | null) => secrets.db.query('update login.policies set row_hash = $1', [hash]);
    await give('r1:forged');
    expect((await found('used/kv/x/y')).status).toBe(403);
    await give(null);
    expect((await found('used/kv/x/y')).status).toBe(200);
  });

  test('are listed to everybody if the operator says so, with nothing else about them', async () => {
    const config = { listing_visibility: 'unauth' };
    const asked = { type: 'kv', description: 'for all', config };
    expect((await call('POST', '/sys/mounts/public', asked)).status).toBe(204);
    await secrets.db.query(
      `insert into login.auth_mounts (namespace_id, path, type, accessor, description, attributes) values
       ('root', 'people', 'oidc', 'auth_3', 'our directory', '{"listing_visibility": "unauth", "options": {"one": "1"}}'),
       ('root', 'shy', 'oidc', 'auth_4', '', '{"listing_visibility": "hidden"}')`,
    );
    const list = async (asking: Caller) =>
      (await call('GET', '/sys/internal/ui/mounts', undefined, asking)).body.data;
    const nobody = testCaller({ tokenType: null, accessor: null, policies: [], grants: [] });
    const publicMounts = {
      secret: { 'public/': { type: 'kv', description: 'for all', options: { version: '2' } } },
      auth: { 'people/': { type: 'oidc', description: 'our directory', options: { one: '1' } } },
    };
    expect(await list(nobody)).toEqual(publicMounts);
    expect(await list({ ...nobody, namespace: { id: '', path: 'nowhere' } })).toEqual({
      secret: {},
      auth: {},
    });
    const { secret, auth } = await list(caller);
    expect(Object.keys(secret)).toEqual(['public/', 'used/kv/']);
    expect(auth).toMatchObject({ 'cloudB/': {}, 'people/': { accessor: 'auth_3', options: { one: '1' } } });
    expect(Object.keys(auth)).toHaveLength(2);
    expect((await found('people', nobody)).status).toBe(403);
    await call('DELETE', '/sys/mounts/public');
    expect((await list(nobody)).secret).toEqual({});
    await secrets.db.query("delete from login.auth_mounts where path in ('people', 'shy')");
  });

  test('root can use all of them', async () => {
    const root = callerIn('root');
    expect((await found('unused', root)).status).toBe(200);
    expect(
      Object.keys((await call('GET', '/sys/internal/ui/mounts', undefined, root)).body.data.auth),
    ).toEqual(['cloudB/', 'hidden/']);
  });
});
