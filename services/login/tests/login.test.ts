import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createAuthenticator } from '@secrets/access';
import { testCaller } from '@secrets/http/testing';
import { type Sandbox, startSandbox, type TokenOptions } from '@secrets/sandbox';
import { ensureRootToken } from '../src/app.ts';
import { type LoginForTest, loginForTest } from './login-for-test.ts';

const audience = 'https://management.example/';
const oid = '11111111-aaaa-4bbb-8ccc-222222222222';
const group = '33333333-aaaa-4bbb-8ccc-444444444444';
const anonymous = testCaller({ accessor: null, tokenType: null, policies: [], grants: [] });
const seen: string[] = []; // every directory token that was sent

let sandbox: Sandbox;
let login: LoginForTest;

beforeAll(async () => {
  sandbox = await startSandbox();
  login = await loginForTest({
    rootTokenFile: join(mkdtempSync(join(tmpdir(), 'login-')), 'root'),
    authorityUrl: `${sandbox.directoryUrl}/`,
  });
  await login.call('POST', '/sys/auth/cloudB', { type: 'cloudB' });
  await configure();
  await role('web', { bound_service_principal_ids: [oid], policies: 'dev', token_ttl: '1h' });
});
afterEach(() => sandbox.directory.faults.clear());
afterAll(async () => {
  await login.stop();
  await sandbox.stop();
});

const configure = (over: object = {}) =>
  login.call('POST', '/auth/cloudB/config', { tenant_id: sandbox.tenantId, resource: audience, ...over });
const role = (name: string, body: object) => login.call('POST', `/auth/cloudB/role/${name}`, body);
async function tokenFor(order: Partial<TokenOptions> = {}): Promise<string> {
  const token = await sandbox.directory.issueToken({ oid, audience, ...order });
  seen.push(token);
  return token;
}
const enter = (body: object, caller = anonymous) => login.call('POST', '/auth/cloudB/login', body, caller);
const enterWith = async (order: Partial<TokenOptions>, name = 'web') =>
  enter({ role: name, jwt: await tokenFor(order) });

describe('refused', () => {
  test.each<[string, Partial<TokenOptions>, number, RegExp]>([
    ['another audience', { audience: 'https://other.example/' }, 403, /aud/],
    ['a longer audience', { audience: `${audience}x` }, 403, /aud/],
    ['another issuer', { overrides: { iss: 'https://sts.windows.net/other/' } }, 403, /iss/],
    ['another tenant', { overrides: { tid: '00000000-0000-4000-8000-000000000000' } }, 403, /tid/],
    ['no tenant', { overrides: { tid: null } }, 403, /tid is missing/],
    ['no principal', { overrides: { oid: null } }, 403, /oid is missing/],
    ['a principal that is no text', { overrides: { oid: 7 } }, 403, /oid/],
    ['a key that was never published', { wrongKey: true }, 403, /signature/],
    ['no signature', { algorithm: 'none' }, 403, /algorithm/],
    ['the public key as an HMAC secret', { algorithm: 'HS256' }, 403, /algorithm/],
    ['another algorithm of the same key', { algorithm: 'RS512' }, 403, /algorithm/],
    ['PSS of the same key', { algorithm: 'PS256' }, 403, /algorithm/],
    ['an unknown key', { kid: 'nobody-knows' }, 403, /key/],
    ['an expired token', { expiresInSeconds: -61 }, 403, /expired/],
    ['a token without an end', { overrides: { exp: null } }, 403, /exp is missing/],
    ['a token of tomorrow', { notBefore: Math.floor(Date.now() / 1000) + 86_400 }, 403, /not valid yet/],
    [
      'another principal',
      { oid: '99999999-aaaa-4bbb-8ccc-222222222222' },
      403,
      /bound_service_principal_ids/,
    ],
    ['groups that are no list', { overrides: { groups: 'x' } }, 403, /groups/],
  ])('%s', async (_name, order, status, sentence) => {
    const answer = await enterWith(order);
    expect(answer.body.errors[0]).toMatch(sentence);
    expect(answer.status).toBe(status);
  });

  test.each<[string, object, RegExp]>([
    ['no role', { jwt: 'x' }, /role is required/],
    ['no jwt', { role: 'web' }, /jwt is required/],
    ['an unknown role', { role: 'nobody', jwt: 'x' }, /role/],
    ['something that is no token', { role: 'web', jwt: 'x' }, /jwt/],
    ['three parts of nothing', { role: 'web', jwt: 'a.b.c' }, /jwt/],
    ['a token over 64 KiB', { role: 'web', jwt: `${'a'.repeat(70_000)}.b.c` }, /64 KiB/],
    ['a machine that is none', { role: 'web', jwt: 'a.b.c', vm_name: '../x' }, /vm_name/],
  ])('%s', async (_name, body, sentence) => {
    const answer = await enter(body);
    expect(answer.status).toBe(400);
    expect(answer.body.errors[0]).toMatch(sentence);
  });

  test('another address, an unknown mount, a mount without configuration', async () => {
    await role('near', { bound_service_principal_ids: [oid], token_bound_cidrs: '10.0.0.0/8' });
    expect((await enterWith({}, 'near')).body.errors[0]).toMatch(/token_bound_cidrs/);
    const inside = await enter(
      { role: 'near', jwt: await tokenFor() },
      { ...anonymous, remoteAddress: '10.1.2.3' },
    );
    expect(inside.status).toBe(200);
    expect(
      (await login.call('POST', '/auth/nowhere/login', { role: 'web', jwt: 'x' }, anonymous)).status,
    ).toBe(404);
    await login.call('POST', '/sys/auth/bare', { type: 'cloudB' });
    expect((await login.call('POST', '/auth/bare/login', { role: 'web', jwt: 'x' }, anonymous)).status).toBe(
      400,
    );
  });

  test('roles that bind machines say that they cannot be looked up, after everything that can be told', async () => {
    await role('machine', { bound_service_principal_ids: [oid], bound_resource_groups: 'rg' });
    expect((await enterWith({}, 'machine')).body.errors[0]).toMatch(/subscription_id is required/);
    const named = { subscription_id: sandbox.tenantId, resource_group_name: 'rg', vm_name: 'web-1' };
    const answer = await enter({ role: 'machine', jwt: await tokenFor(), ...named });
    expect(answer.status).toBe(503);
    expect(answer.body.errors[0]).toMatch(/cannot look up/);
    expect((await enterWith({ oid: group }, 'machine')).status).toBe(403);
  });

  test('groups that did not fit into the token', async () => {
    await role('grouped', { bound_group_ids: [group.toUpperCase()] });
    expect((await enterWith({ groupOverage: true }, 'grouped')).body.errors[0]).toMatch(/too many/);
    expect((await enterWith({ groups: [oid] }, 'grouped')).body.errors[0]).toMatch(/bound_group_ids/);
    expect((await enterWith({ groups: [oid, group] }, 'grouped')).status).toBe(200);
  });

  test('tokens older than the role takes them', async () => {
    await role('fresh', { bound_service_principal_ids: [oid], max_token_age: '2m' });
    expect((await enterWith({}, 'fresh')).body.errors[0]).toMatch(/max_token_age/);
    expect((await enterWith({ notBefore: Math.floor(Date.now() / 1000) }, 'fresh')).status).toBe(200);
  });
});

describe('let in', () => {
  test.each<[string, Partial<TokenOptions>]>([
    ['a v1 token', {}],
    ['a v2 token', { version: 2 }],
    ['the resource without its slash', { audience: audience.slice(0, -1) }],
    ['a principal in other case', { oid: oid.toUpperCase() }],
    ['within the leeway', { expiresInSeconds: -1 }],
  ])('%s', async (_name, order) => {
    const answer = await enterWith(order, 'WEB');
    expect(answer.status).toBe(200);
    expect(answer.body.auth).toMatchObject({
      client_token: expect.stringMatching(/^sst_/),
      policies: ['default', 'dev'],
      lease_duration: 3_600,
      renewable: true,
      metadata: { role: 'web' },
      token_type: 'service',
    });
  });

  test('the same principal is the same entity, another one is another, at once as well as one after the other', async () => {
    await role('pair', { bound_group_ids: [group] });
    const orders = ['5', '5', '5', '6'].map((digit) =>
      enterWith({ oid: oid.replaceAll('1', digit), groups: [group] }, 'pair'),
    );
    const entities = (await Promise.all(orders)).map(({ body }) => body.auth.entity_id);
    expect(new Set(entities).size).toBe(2);
    expect(entities[1]).toBe(entities[0]);
    expect(entities[2]).toBe(entities[0]);
  });

  test('with a token that the gateway accepts, until the mount is disabled', async () => {
    await login.call('POST', '/sys/auth/brief', { type: 'cloudB' });
    await login.call('POST', '/auth/brief/config', { tenant_id: sandbox.tenantId, resource: audience });
    await login.call('POST', '/auth/brief/role/r', { bound_service_principal_ids: oid });
    const entered = await login.call(
      'POST',
      '/auth/brief/login',
      { role: 'r', jwt: await tokenFor() },
      anonymous,
    );
    const gateway = createAuthenticator({ db: login.db, keys: login.keys });
    const asked = () =>
      gateway.authenticate({
        token: entered.body.auth.client_token,
        namespace: undefined,
        operation: 'read',
        path: 'auth/token/lookup-self',
        remoteAddress: '127.0.0.1',
        requestId: 'r',
      });
    expect(await asked()).toMatchObject({ allowed: true, caller: { entityId: entered.body.auth.entity_id } });
    await login.call('DELETE', '/sys/auth/brief');
    expect((await asked()).allowed).toBe(false);
    expect(
      await login.db.query('select 1 from login.entities where id = $1', [entered.body.auth.entity_id]),
    ).toEqual([]);
  });

  test('as a batch token where the role says so', async () => {
    await role('batch', {
      bound_service_principal_ids: oid,
      token_type: 'batch',
      token_no_default_policy: true,
      policies: 'dev',
    });
    const answer = await enterWith({}, 'batch');
    expect(answer.body.auth).toMatchObject({
      client_token: expect.stringMatching(/^sbt_/),
      policies: ['dev'],
      renewable: false,
      accessor: '',
    });
    expect(answer.body.auth.entity_id).toBe((await enterWith({})).body.auth.entity_id);
  });
});

describe('renewal re-reads the role', () => {
  test('renewed while the claims pass, refused when they no longer do, and when the role is gone', async () => {
    await role('changing', { bound_service_principal_ids: oid });
    const caller = login.callerOf(await enterWith({}, 'changing'));
    const renewed = () => login.call('POST', '/auth/token/renew-self', {}, caller);
    expect((await renewed()).status).toBe(200);
    await role('changing', { bound_service_principal_ids: group });
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: [expect.stringMatching(/bound_service_principal_ids/)] },
    });
    await role('changing', { bound_service_principal_ids: oid });
    expect((await renewed()).status).toBe(200);
    await login.call('DELETE', '/auth/cloudB/role/changing');
    expect((await renewed()).body.errors[0]).toMatch(/no longer exists/);
  });
});

describe('the directory', () => {
  const fresh = () => configure(); // a write drops the keys

  test.each([
    ['server-error', 503],
    ['garbage', 502],
    ['reset', 503],
    ['redirect', 502],
    ['huge', 502],
  ] as const)('answering with %s is not a success', async (effect, status) => {
    for (const operation of ['discovery', 'keys']) {
      await fresh();
      sandbox.directory.faults.add({ effect, operation });
      expect((await enterWith({})).status).toBe(status);
      sandbox.directory.faults.clear();
    }
    await fresh();
    expect((await enterWith({})).status).toBe(200);
  });

  test('is asked once for many logins at once', async () => {
    await fresh();
    const before = sandbox.directory.calls().length;
    const jwt = await tokenFor();
    await Promise.all(Array.from({ length: 20 }, () => enter({ role: 'web', jwt })));
    expect(sandbox.directory.calls().length - before).toBe(2);
  });

  test('may be down once its keys are known', async () => {
    expect((await enterWith({})).status).toBe(200);
    sandbox.directory.faults.add({ effect: 'server-error' });
    expect((await enterWith({})).status).toBe(200);
  });

  test('is asked for an unknown key once in a while, however many name one', async () => {
    await fresh();
    expect((await enterWith({})).status).toBe(200);
    const before = sandbox.directory.calls().length;
    for (let n = 0; n < 5; n += 1) expect((await enterWith({ kid: `unknown-${n}` })).status).toBe(403);
    expect(sandbox.directory.calls().length - before).toBe(0);
  });

  test('of another tenant is found out by the check', async () => {
    const good = await login.call('POST', '/auth/cloudB/config/check');
    expect(good.body.data.ok).toBe(true);
    expect(good.body.data.steps.map(({ result }: { result: string }) => result.split(':')[0])).toEqual([
      'ok',
      'ok',
      'not checked',
      'not checked',
    ]);
    await configure({ tenant_id: 'somebody-else' });
    const bad = await login.call('POST', '/auth/cloudB/config/check');
    expect(bad.body.data.ok).toBe(false);
    expect(bad.body.data.steps[0].result).toBe(
      'failed: the directory does not know the configured tenant_id',
    );
    expect(await enterWith({})).toMatchObject({
      status: 502,
      body: { errors: ['the directory does not know the configured tenant_id'] },
    });
    await fresh();
  });
});

test('the root token opens the gateway, also one of the operator’s own choice', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'own-root-'));
  writeFileSync(join(folder, 'root'), 'a-root-token-of-my-own');
  await login.db.query('delete from login.root_token');
  await ensureRootToken(login.db, { file: join(folder, 'root') });
  const gateway = createAuthenticator({ db: login.db, keys: login.keys });
  const asked = {
    namespace: undefined,
    operation: 'read',
    path: 'sys/auth',
    remoteAddress: '127.0.0.1',
    requestId: 'r',
  } as const;
  expect((await gateway.authenticate({ ...asked, token: 'a-root-token-of-my-own' })).allowed).toBe(true);
  expect((await gateway.authenticate({ ...asked, token: 'a-root-token-of-my-owN' })).allowed).toBe(false);
});

test('nothing of a token reaches the log or an error', async () => {
  const entered = await enterWith({});
  const logged = login.logged();
  expect(seen.length).toBeGreaterThan(30);
  for (const token of seen)
    for (const part of token.split('.').slice(1)) if (part !== '') expect(logged).not.toContain(part);
  expect(logged).not.toContain(entered.body.auth.client_token);
  expect(logged).not.toMatch(/s[sb]t_[A-Za-z0-9_-]{20}/);
  expect(logged).toContain('a directory token was verified');
});
