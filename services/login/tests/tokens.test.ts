import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { createIn, type LoginForTest, startLoginForTest } from './login-for-test.ts';

let login: LoginForTest;
let create: ReturnType<typeof createIn>;

beforeAll(async () => {
  login = await startLoginForTest();
  create = createIn(login);
});
afterAll(() => login.stop());

const lookUp = (token: string, caller = login.root) =>
  login.call('POST', '/auth/token/lookup', { token }, caller);

describe('a service token', () => {
  const request = {
    policies: 'dev',
    ttl: '1h',
    meta: { a: 'b' },
    display_name: 'x',
    num_uses: '3',
    bound_cidrs: '10.0.0.0/8',
  };

  test('is created with what the request names', async () => {
    expect((await create(request)).body.auth).toMatchObject({
      client_token: expect.stringMatching(/^sst_/),
      policies: ['default', 'dev'],
      lease_duration: 3_600,
      renewable: true,
      metadata: { a: 'b' },
      token_type: 'service',
      orphan: false,
      num_uses: 3,
    });
  });

  test('is looked up by itself, its text and its accessor, which never returns the text', async () => {
    const created = await create(request);
    const { client_token: token, accessor } = created.body.auth;
    const caller = login.callerOf(created);
    const found = [
      await lookUp(token),
      await login.call('GET', '/auth/token/lookup-self', undefined, caller),
      await login.call('POST', '/auth/token/lookup-accessor', { accessor }),
    ];
    for (const { body } of found) {
      expect(body.data).toMatchObject({
        accessor,
        display_name: 'token-x',
        path: 'auth/token/create',
        num_uses: 3,
        bound_cidrs: ['10.0.0.0/8'],
        type: 'service',
      });
      expect(body.data.ttl).toBeGreaterThan(3_000);
      expect(JSON.stringify(body)).not.toContain(token);
    }
  });

  test('is renewed by itself and by its text', async () => {
    const created = await create(request);
    const caller = login.callerOf(created);
    const renewed = await login.call('POST', '/auth/token/renew-self', { increment: '2h' }, caller);
    expect(renewed.body.auth).toMatchObject({ lease_duration: 7_200, client_token: '' });
    const token = created.body.auth.client_token;
    const again = await login.call('POST', '/auth/token/renew', { token });
    expect(again.body.auth.lease_duration).toBeGreaterThan(6_600);
  });

  test('is not renewed if it is not renewable', async () => {
    const fixed = login.callerOf(await create({ policies: 'dev', renewable: false }));
    expect((await login.call('POST', '/auth/token/renew-self', {}, fixed)).status).toBe(400);
  });
});

describe('the policies of a new token', () => {
  test.each([
    ['a list with an empty name', ['']],
    ['a list of blank names', [' ', '\t']],
    ['a blank string', ' '],
    ['an empty string', ''],
    ['a comma', ','],
  ])('are default alone for %s, even from a root token', async (_what, policies) => {
    expect((await create({ policies })).body.auth.policies).toEqual(['default']);
  });

  test("are the parent's if the list is absent or empty", async () => {
    for (const body of [{}, { policies: null }, { policies: [] }])
      expect((await create(body)).body.auth.policies).toEqual(['root']);
  });

  test('do not include default if the parent was created without it', async () => {
    const parent = await create({ policies: 'dev', no_default_policy: true });
    const child = await create({ policies: 'dev' }, login.callerOf(parent));
    expect(child.body.auth.policies).toEqual(['dev']);
    const named = await login.call(
      'POST',
      '/auth/token/create',
      { policies: 'default' },
      login.callerOf(parent),
    );
    expect([named.status, named.body.errors]).toEqual([400, [expect.stringMatching(/subset.*: default$/)]]);
  });
});

describe('revocation', () => {
  test('deletes a token and moves the epoch', async () => {
    const { client_token: token, accessor } = (await create({ policies: 'dev' })).body.auth;
    const before = await login.epoch();
    expect((await login.call('POST', '/auth/token/revoke', { token })).status).toBe(204);
    expect(await login.epoch()).toBe(before + 1);
    expect((await lookUp(token)).status).toBe(404);
    expect((await login.call('POST', '/auth/token/revoke-accessor', { accessor })).status).toBe(404);
  });

  test('succeeds for a token that does not exist', async () => {
    const { client_token: token } = (await create({ policies: 'dev' })).body.auth;
    for (const _time of [1, 2])
      expect((await login.call('POST', '/auth/token/revoke', { token })).status).toBe(204);
  });

  test('deletes all descendants, but not orphans', async () => {
    const parent = await create({ policies: 'dev' });
    const child = await create({}, login.callerOf(parent));
    const grandchild = await create({}, login.callerOf(child));
    const orphan = await create({ no_parent: true }, login.callerOf(parent, { grants: ['update', 'sudo'] }));
    await login.call('POST', '/auth/token/revoke-self', undefined, login.callerOf(parent));
    expect((await lookUp(child.body.auth.client_token)).status).toBe(404);
    expect((await lookUp(grandchild.body.auth.client_token)).status).toBe(404);
    expect((await lookUp(orphan.body.auth.client_token)).body.data.orphan).toBe(true);
  });

  test('of one token alone makes its children orphans', async () => {
    const parent = await create({ policies: 'dev' });
    const child = await create({}, login.callerOf(parent));
    await login.call('POST', '/auth/token/revoke-orphan', { token: parent.body.auth.client_token });
    expect((await lookUp(child.body.auth.client_token)).body.data.orphan).toBe(true);
    await create({}, login.callerOf(child));
    expect((await login.call('POST', '/auth/token/create', {}, login.callerOf(parent))).status).toBe(403);
  });
});

describe('a batch token', () => {
  test('has no accessor, and cannot be renewed or revoked', async () => {
    const { auth } = (await create({ policies: 'dev', type: 'batch', ttl: '1h' })).body;
    expect(auth).toMatchObject({
      accessor: '',
      renewable: false,
      token_type: 'batch',
      lease_duration: 3_600,
    });
    const token = auth.client_token;
    expect((await lookUp(token)).body.data).toMatchObject({ type: 'batch', policies: ['default', 'dev'] });
    expect((await login.call('POST', '/auth/token/renew', { token })).status).toBe(400);
    expect((await login.call('POST', '/auth/token/revoke', { token })).status).toBe(400);
  });

  test('can look up itself, but neither renew nor revoke itself', async () => {
    const tokenExpiresAt = new Date(Date.now() + 60_000).toISOString();
    const batch = testCaller({ accessor: null, tokenType: 'batch', tokenExpiresAt });
    const found = await login.call('GET', '/auth/token/lookup-self', undefined, batch);
    expect(found.body.data).toMatchObject({ type: 'batch', ttl: 60, expire_time: tokenExpiresAt });
    expect((await login.call('POST', '/auth/token/renew-self', {}, batch)).status).toBe(400);
    expect((await login.call('POST', '/auth/token/revoke-self', {}, batch)).status).toBe(400);
  });

  test('is accepted until its parent is revoked', async () => {
    const parent = await create({ policies: 'dev' });
    const batch = await create({ type: 'batch', ttl: '1h' }, login.callerOf(parent));
    const { client_token: token } = batch.body.auth;
    expect(await login.isAccepted(token)).toBe(true);
    await login.call('POST', '/auth/token/revoke', { token: parent.body.auth.client_token });
    expect(await login.isAccepted(token)).toBe(false);
  });
});

describe('in namespaces', () => {
  const within = async (path: string) => {
    await login.call('POST', `/sys/namespaces/${path}`);
    const { id } = (await login.call('GET', `/sys/namespaces/${path}`)).body.data;
    return { ...login.root, namespace: { id, path } };
  };

  test.each(['service', 'batch'])(
    'a %s token is found from its own namespace and from above',
    async (type) => {
      const [top, inner] = [await within('top'), await within('top/inner')];
      const { client_token: token } = (await create({ policies: 'dev', type }, inner)).body.auth;
      for (const caller of [inner, top])
        expect((await lookUp(token, caller)).body.data.namespace_path).toBe('top/inner/');
    },
  );

  test.each(['service', 'batch'])('a %s token is not found from below', async (type) => {
    const [top, inner] = [await within('top'), await within('top/inner')];
    const { client_token: token } = (await create({ policies: 'dev', type }, top)).body.auth;
    expect((await lookUp(token, inner)).status).toBe(404);
  });

  test('the accessors of a namespace are listed in pages', async () => {
    const listed = await within('listed');
    const created = [await create({ policies: 'dev' }, listed), await create({ policies: 'dev' }, listed)];
    const accessors = created.map(({ body }) => body.auth.accessor).sort();
    const first = await login.call('LIST', '/auth/token/accessors?limit=1', undefined, listed);
    expect(first.body.data.keys).toEqual(accessors.slice(0, 1));
    const rest = await login.call('LIST', `/auth/token/accessors?after=${accessors[0]}`, undefined, listed);
    expect(rest.body).toMatchObject({ data: { keys: accessors.slice(1) }, warnings: null });
  });

  test('an accessor of another namespace is not found', async () => {
    const { namespace } = await within('apart');
    const caller = testCaller({ namespace, tokenNamespace: namespace });
    const { accessor } = (await create({ policies: 'dev' })).body.auth;
    expect((await login.call('POST', '/auth/token/lookup-accessor', { accessor }, caller)).status).toBe(404);
    expect((await login.call('POST', '/auth/token/revoke-accessor', { accessor }, caller)).status).toBe(404);
  });
});
