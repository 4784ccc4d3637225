import { describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { createIn, useLogin } from '../login-for-test.ts';

const login = useLogin();
const create = createIn(login);

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

  test('may have its metadata as pairs', async () => {
    const { auth } = (await create({ ...request, meta: ['team=QA', 'b=c=d'] })).body;
    expect(auth.metadata).toEqual({ team: 'QA', b: 'c=d' });
  });

  test('has -1 uses while it is used for the last time, because 0 means any number', async () => {
    const created = await create({ ...request, policies: 'default', num_uses: 2 });
    const token = created.body.auth.client_token;
    await login.db.query('update login.tokens set uses_left = 0 where accessor = $1', [
      created.body.auth.accessor,
    ]);
    const caller = login.callerOf(created);
    const own = (method: string, name: string) =>
      login.callWithToken(token, method, `/auth/token/${name}`, undefined, caller);
    expect((await own('GET', 'lookup-self')).body.data.num_uses).toBe(-1);
    expect((await own('POST', 'renew-self')).body.auth.num_uses).toBe(-1);
  });

  test('is looked up by itself, its text and its accessor', async () => {
    const created = await create(request);
    const { client_token: token, accessor } = created.body.auth;
    const caller = login.callerOf(created);
    const found = [
      await lookUp(token),
      await login.callWithToken(token, 'GET', '/auth/token/lookup-self', undefined, caller),
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
    }
    expect(found.map(({ body }) => body.data.id)).toEqual([token, token, '']);
  });

  test('is renewed by itself and by its text, which the response repeats', async () => {
    const created = await create(request);
    const caller = login.callerOf(created);
    const token = created.body.auth.client_token;
    const path = '/auth/token/renew-self';
    const renewed = await login.callWithToken(token, 'POST', path, { increment: '2h' }, caller);
    expect(renewed.body.auth).toMatchObject({ lease_duration: 7_200, client_token: token });
    const again = await login.call('POST', '/auth/token/renew', { token });
    expect(again.body.auth).toMatchObject({ lease_duration: 3_600, client_token: token });
  });

  test('is not found by itself with the text of another token', async () => {
    const { client_token: other } = (await create(request)).body.auth;
    const caller = login.callerOf(await create(request));
    const calls = [
      login.callWithToken(other, 'GET', '/auth/token/lookup-self', undefined, caller),
      login.callWithToken(other, 'POST', '/auth/token/renew-self', {}, caller),
    ];
    for (const { status } of await Promise.all(calls)) expect(status).toBe(404);
  });

  test('has the text that a request with sudo chose', async () => {
    const id = 'my-own-token-of-20-characters';
    const chosen = await create({ policies: 'dev', id });
    expect(chosen.body.auth.client_token).toBe(id);
    expect((await lookUp(id)).body.data.accessor).toBe(chosen.body.auth.accessor);
    expect(await login.isAccepted(id)).toBe(true);
    const again = await login.call('POST', '/auth/token/create', { policies: 'dev', id });
    expect([again.status, again.body.errors]).toEqual([409, ['id: a token of this ID exists']]);
  });

  test.each(['too-short', 'with blanks in the middle', `sst_${'a'.repeat(43)}`, 'sst_of-some-other-length'])(
    'cannot have the text %j',
    async (id) => {
      const { status, body } = await login.call('POST', '/auth/token/create', { policies: 'dev', id });
      expect([status, body.errors]).toEqual([400, [expect.stringMatching(/^id: /)]]);
    },
  );

  test('of a policy that does not exist is created with a warning', async () => {
    await login.call('POST', '/sys/policies/acl/written', { policy: 'path "a" { capabilities = ["read"] }' });
    const { body } = await create({ policies: ['written', 'unwritten'] });
    expect(body.warnings).toEqual(['policy unwritten does not exist, and grants nothing until it does']);
  });

  test('is created without a warning for the empty fields that command lines send', async () => {
    const empty = { id: '', entity_alias: '', display_name: '', num_uses: 0, type: 'service' };
    expect((await create({ ...empty, policies: 'default', period: 0, ttl: '1h' })).body.warnings).toBeNull();
  });

  test('of an alias is refused', async () => {
    const { status, body } = await login.call('POST', '/auth/token/create', { entity_alias: 'someone' });
    expect([status, body.errors]).toEqual([
      400,
      ['entity_alias: is not supported: only logins assign entities'],
    ]);
  });

  test('of type batch is not renewable, even if the request says so, as that of hvac always does', async () => {
    const request = { policies: 'dev', type: 'batch', renewable: true };
    const { auth } = (await login.call('POST', '/auth/token/create', request)).body;
    expect(auth).toMatchObject({ token_type: 'batch', renewable: false });
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

  test('looks up itself as others do', async () => {
    const { auth } = (await create({ policies: 'dev', type: 'batch', ttl: '1h', meta: { a: 'b' } })).body;
    const token = auth.client_token;
    const batch = testCaller({ accessor: null, tokenType: 'batch' });
    const own = await login.callWithToken(token, 'GET', '/auth/token/lookup-self', undefined, batch);
    expect(own.body.data).toMatchObject({ id: token, meta: { a: 'b' }, creation_ttl: 3_600 });
    const { ttl: _, ...others } = (await lookUp(token)).body.data;
    expect(own.body.data).toMatchObject(others);
  });

  test('can neither renew nor revoke itself', async () => {
    const batch = testCaller({ accessor: null, tokenType: 'batch' });
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

  test('an accessor of another namespace is not found (CVE-2026-40264)', async () => {
    const { namespace } = await within('apart');
    const caller = testCaller({ namespace, tokenNamespace: namespace });
    const { accessor } = (await create({ policies: 'dev' })).body.auth;
    for (const what of ['lookup', 'renew', 'revoke'])
      expect((await login.call('POST', `/auth/token/${what}-accessor`, { accessor }, caller)).status).toBe(
        404,
      );
    expect((await login.call('POST', '/auth/token/lookup-accessor', { accessor })).status).toBe(200);
  });
});
