import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { TokenOptions } from '@secrets/sandbox';
import { sweepTokens } from '../../src/tokens/sweep-tokens.ts';
import {
  anonymous,
  audience,
  type CloudBForTest,
  group,
  type LoginForTest,
  oid,
  startCloudBForTest,
} from '../login-for-test.ts';

let cloudB: CloudBForTest;
let service: LoginForTest;

beforeAll(async () => {
  cloudB = await startCloudBForTest();
  service = cloudB.service;
});
afterAll(() => cloudB.stop());

describe('a login succeeds', () => {
  test.each<[string, Partial<TokenOptions>]>([
    ['with a v1 token', {}],
    ['with a v2 token', { version: 2 }],
    ['with the resource without its trailing slash', { audience: audience.slice(0, -1) }],
    ['with the principal in upper case', { oid: oid.toUpperCase() }],
    ['within the leeway after expiry', { expiresInSeconds: -1 }],
  ])('%s', async (_circumstance, options) => {
    const { status, body } = await cloudB.logInWith(options, 'WEB');
    expect(status).toBe(200);
    expect(body.auth).toMatchObject({
      client_token: expect.stringMatching(/^sst_/),
      policies: ['default', 'dev'],
      lease_duration: 3_600,
      renewable: true,
      metadata: { role: 'web' },
      token_type: 'service',
    });
  });

  test('with a batch token if the role says so', async () => {
    await cloudB.writeRole('batch', {
      bound_service_principal_ids: oid,
      token_type: 'batch',
      token_no_default_policy: true,
      policies: 'dev',
    });
    const { auth } = (await cloudB.logInWith({}, 'batch')).body;
    expect(auth).toMatchObject({
      client_token: expect.stringMatching(/^sbt_/),
      policies: ['dev'],
      renewable: false,
      accessor: '',
      token_type: 'batch',
    });
    expect(auth.entity_id).toBe((await cloudB.logInWith({})).body.auth.entity_id);
  });
});

test('a principal has one entity, even if its first logins are concurrent', async () => {
  await cloudB.writeRole('pair', { bound_group_ids: [group] });
  const logins = ['5', '5', '5', '6'].map((digit) =>
    cloudB.logInWith({ oid: oid.replaceAll('1', digit), groups: [group] }, 'pair'),
  );
  const entities = (await Promise.all(logins)).map(({ body }) => body.auth.entity_id);
  expect(new Set(entities.slice(0, 3)).size).toBe(1);
  expect(entities[3]).not.toBe(entities[0]);
});

test('only groups that the role binds are stored with a token', async () => {
  await cloudB.writeRole('grouped', { bound_group_ids: group.toUpperCase() });
  const { auth } = (await cloudB.logInWith({ groups: [group, oid] }, 'grouped')).body;
  const [stored] = await service.db.query<{ source: object }>(
    'select login_source as source from login.tokens where accessor = $1',
    [auth.accessor],
  );
  expect(stored!.source).toMatchObject({ groups: [group] });
});

test('disabling the mount revokes its tokens and deletes its entities', async () => {
  await service.call('POST', '/sys/auth/brief', { type: 'cloudB' });
  const config = { tenant_id: cloudB.sandbox.tenantId, resource: audience };
  await service.call('POST', '/auth/brief/config', config);
  await service.call('POST', '/auth/brief/role/r', { bound_service_principal_ids: oid });
  const request = { role: 'r', jwt: await cloudB.issueJwt() };
  const { auth } = (await service.call('POST', '/auth/brief/login', request, anonymous)).body;
  expect(await service.isAccepted(auth.client_token)).toBe(true);
  await service.call('DELETE', '/sys/auth/brief');
  expect(await service.isAccepted(auth.client_token)).toBe(false);
  await sweepTokens(service);
  const entities = await service.db.query('select 1 from login.entities where id = $1', [auth.entity_id]);
  expect(entities).toEqual([]);
  expect((await service.call('POST', '/auth/brief/login', request, anonymous)).status).toBe(404);
});

describe('a renewal', () => {
  const renew = async (role: string) => {
    const caller = service.callerOf(await cloudB.logInWith({}, role));
    return () => service.call('POST', '/auth/token/renew-self', {}, caller);
  };

  test('is refused while the role does not admit the claims of the login', async () => {
    await cloudB.writeRole('changing', { bound_service_principal_ids: oid });
    const renewed = await renew('changing');
    expect((await renewed()).status).toBe(200);
    await cloudB.writeRole('changing', { bound_service_principal_ids: group });
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: [expect.stringMatching(/bound_service_principal_ids/)] },
    });
    await cloudB.writeRole('changing', { bound_service_principal_ids: oid });
    expect((await renewed()).status).toBe(200);
  });

  test('is refused if the role was deleted', async () => {
    await cloudB.writeRole('deleted', { bound_service_principal_ids: oid });
    const renewed = await renew('deleted');
    await service.call('DELETE', '/auth/cloudB/role/deleted');
    expect(await renewed()).toMatchObject({
      status: 403,
      body: { errors: ['the role of this login no longer exists'] },
    });
  });
});

test('no part of a JWT or token reaches the log', async () => {
  const { auth } = (await cloudB.logInWith({})).body;
  await cloudB.logInWith({ wrongKey: true });
  await cloudB.logInWith({ oid: group });
  const logged = service.logged();
  expect(logged).toContain('directory token verified');
  expect(logged).toContain('login refused');
  const parts = cloudB.issuedJwts.flatMap((jwt) => jwt.split('.').slice(1)).filter((part) => part !== '');
  expect(parts.length).toBeGreaterThan(10);
  for (const part of parts) expect(logged).not.toContain(part);
  expect(logged).not.toContain(auth.client_token);
  expect(logged).not.toMatch(/s[sb]t_[A-Za-z0-9_-]{20}/);
});
