import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rowGuard } from '@secrets/access';
import { invalid } from '@secrets/domain';
import { serviceApp } from '@secrets/http';
import { serveForTest, type TestService } from '@secrets/http/testing';
import { createMetrics } from '@secrets/telemetry';
import { z } from 'zod';
import { type AuthMethod, methodEndpoint, NoSuchMount } from '../../src/auth-methods/auth-method.ts';
import { createCloudB } from '../../src/auth-methods/cloudb/cloudb.ts';
import { authMethods } from '../../src/auth-methods/registry.ts';
import { findAuthMount } from '../../src/queries/auth-mounts.ts';
import { allEndpoints } from '../../src/routes/all.ts';
import { issueToken, type TokenContext } from '../../src/tokens/issue-token.ts';
import { storingLoginTokens } from '../../src/tokens/store-login-token.ts';
import { planLifetime } from '../../src/tokens/token-lifetime.ts';
import { anonymous, type LoginForTest, startLoginForTest } from '../login-for-test.ts';

// What a second login method needs: the contract, and nothing in tokens, policies, auth mounts or routes.

const LoginBody = z.object({ name: z.string(), password: z.literal('right') });
const renewableNames = new Set<string>();

const passwordMethod = (context: TokenContext): AuthMethod => ({
  type: 'password',
  loginBody: LoginBody,
  login: async ({ namespaceId, mount }, { name }: z.infer<typeof LoginBody>) => {
    const found = await findAuthMount(context.db, namespaceId, mount);
    if (found?.type !== 'password') throw new NoSuchMount();
    return issueToken(context, {
      type: 'service',
      parentAccessor: null,
      namespaceId,
      displayName: name,
      creationPath: `auth/${mount}/login`,
      policies: ['default'],
      metadata: {},
      boundCidrs: [],
      renewable: true,
      lifetime: planLifetime({}, new Date()),
      uses: null,
      owner: { mountId: found.id, alias: name, groups: [], issuedAt: Date.now() / 1_000, source: { name } },
    });
  },
  mayRenew: async ({ source }) =>
    renewableNames.has((source as { name: string }).name)
      ? { allowed: true }
      : { allowed: false, reason: 'the user was removed' },
  endpoints: [
    methodEndpoint({
      method: 'get',
      path: '/config',
      summary: 'Read the configuration',
      handle: async ({ mount }) => ({ data: { type: mount.type, path: mount.path } }),
    }),
    methodEndpoint({
      method: 'post',
      path: '/users/:name',
      summary: 'Write a user',
      params: z.object({ name: z.string() }),
      body: z.object({ email: z.string() }),
      handle: async ({ params, body }) => {
        if (!body.email.includes('@')) throw invalid('email: must be an address');
        return { data: { ...params, ...body } };
      },
    }),
  ],
});

let login: LoginForTest;
let both: TestService;

beforeAll(async () => {
  login = await startLoginForTest();
  const metrics = createMetrics('login', { processMetrics: false });
  const loginCounter = metrics.counter('logins_total', 'Logins by outcome', ['outcome']);
  const storeLoginToken = storingLoginTokens(login.db);
  const deps = { ...login, rows: rowGuard(login.rowKeys), storeLoginToken, loginCounter };
  const context = {
    ...deps,
    methods: authMethods([createCloudB(deps, {}), passwordMethod(deps)]),
  };
  const { keys, log } = login;
  const app = serviceApp({
    service: 'login',
    endpoints: allEndpoints(context, loginCounter),
    keys,
    log,
    metrics,
    readiness: {},
    databaseTime: Date.now,
  });
  both = await serveForTest(app, 'login', keys);
  await call('POST', '/sys/auth/people', { type: 'password' });
  await call('POST', '/sys/auth/cloudB', { type: 'cloudB' });
});
afterAll(async () => {
  await both.stop();
  await login.stop();
});

const call = (method: string, path: string, body?: unknown, caller = login.root) =>
  both.call(method, path, body, caller);
const logIn = (mount: string, name = 'eve') =>
  call('POST', `/auth/${mount}/login`, { name, password: 'right' }, anonymous);

describe('a second login method', () => {
  test('is enabled by its type, which the accessor names', async () => {
    const { data } = (await call('GET', '/sys/auth/people')).body;
    expect(data).toMatchObject({ type: 'password', accessor: expect.stringMatching(/^auth_password_/) });
    expect((await call('POST', '/sys/auth/x', { type: 'other' })).body.errors).toEqual([
      'type: must be cloudB or password',
    ]);
  });

  test('issues tokens from the body that it describes', async () => {
    const { auth } = (await logIn('people')).body;
    expect(await login.isAccepted(auth.client_token)).toBe(true);
    expect(auth.entity_id).toBe((await logIn('people')).body.auth.entity_id);
    const wrong = await call('POST', '/auth/people/login', { name: 'eve', password: 'wrong' }, anonymous);
    expect(wrong.status).toBe(400);
    expect((await logIn('cloudB')).body.errors).toEqual(['role is required', 'jwt is required']);
  });

  test('decides about the renewal of its tokens', async () => {
    const caller = login.callerOf(await logIn('people', 'ada'));
    const renew = () => call('POST', '/auth/token/renew-self', {}, caller);
    expect(await renew()).toMatchObject({ status: 403, body: { errors: ['the user was removed'] } });
    renewableNames.add('ada');
    expect((await renew()).status).toBe(200);
  });

  test('has endpoints of its own below its mounts, at the same paths as other methods', async () => {
    expect((await call('GET', '/auth/people/config')).body.data).toEqual({
      type: 'password',
      path: 'people',
    });
    expect((await call('GET', '/auth/cloudB/config')).status).toBe(404); // not configured
    const user = await call('POST', '/auth/people/users/eve', { email: 'e@x', age: 7 });
    expect(user.body).toMatchObject({ data: { name: 'eve', email: 'e@x' } });
    expect(user.body.warnings).toEqual(['unknown field age was ignored']);
    expect((await call('POST', '/auth/people/users/eve', {})).body.errors).toEqual(['email is required']);
  });

  test('does not have the endpoints of others', async () => {
    expect((await call('POST', '/auth/cloudB/users/eve', { email: 'e@x' })).body.errors).toEqual([
      'no such path',
    ]);
    const unsupported = await call('DELETE', '/auth/people/config');
    expect([unsupported.status, unsupported.headers.get('allow')]).toEqual([405, 'GET']);
  });

  test('reserves the names of its endpoints', async () => {
    expect((await call('POST', '/sys/auth/a/users', { type: 'cloudB' })).body.errors).toEqual([
      'path: users must not be a segment of an auth mount',
    ]);
  });

  test('is found even if its mount took the path of another method', async () => {
    await call('POST', '/sys/auth/moved', { type: 'cloudB' });
    expect((await logIn('moved')).body.errors).toEqual(['role is required', 'jwt is required']);
    await call('DELETE', '/sys/auth/moved');
    expect((await logIn('moved')).status).toBe(404);
    await call('POST', '/sys/auth/moved', { type: 'password' });
    expect((await logIn('moved')).status).toBe(200);
    await call('DELETE', '/sys/auth/moved');
    await call('POST', '/sys/auth/moved', { type: 'cloudB' });
    const { body } = await call('POST', '/auth/moved/login', { role: 'r', jwt: 'j' }, anonymous);
    expect(body.errors).toEqual(['this auth mount is not configured']);
  });
});
