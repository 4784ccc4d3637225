import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { audience, type CloudBForTest, startCloudBForTest } from '../login-for-test.ts';

let cloudB: CloudBForTest;

beforeAll(async () => {
  cloudB = await startCloudBForTest({ rowsAreBound: false });
});
afterEach(() => cloudB.sandbox.directory.faults.clear());
afterAll(() => cloudB.stop());

const calls = () => cloudB.sandbox.directory.calls().length;
const dropKeys = () => cloudB.configure();

test.each([
  ['server-error', 503],
  ['garbage', 502],
  ['reset', 503],
  ['redirect', 502],
  ['huge', 502],
  ['many-headers', 503],
  ['empty', 502],
  ['cut-off', 503],
  ['deep', 502],
] as const)('a login fails if the directory fails with %s', async (effect, status) => {
  for (const operation of ['discovery', 'keys']) {
    await dropKeys();
    cloudB.sandbox.directory.faults.add({ effect, operation });
    expect((await cloudB.logInWith({})).status).toBe(status);
    cloudB.sandbox.directory.faults.clear();
  }
  await dropKeys();
  expect((await cloudB.logInWith({})).status).toBe(200);
});

test('concurrent logins share one fetch of the keys', async () => {
  await dropKeys();
  const before = calls();
  const jwt = await cloudB.issueJwt();
  await Promise.all(Array.from({ length: 20 }, () => cloudB.logIn({ role: 'web', jwt })));
  expect(calls() - before).toBe(2);
});

test('a login succeeds while the directory is down if its keys are cached', async () => {
  expect((await cloudB.logInWith({})).status).toBe(200);
  cloudB.sandbox.directory.faults.add({ effect: 'server-error' });
  expect((await cloudB.logInWith({})).status).toBe(200);
});

test('a write of another configuration of the same tenant drops no keys', async () => {
  await cloudB.service.call('POST', '/sys/auth/second', { type: 'cloudB' });
  expect((await cloudB.logInWith({})).status).toBe(200);
  cloudB.sandbox.directory.faults.add({ effect: 'server-error' });
  const config = { tenant_id: cloudB.sandbox.tenantId, resource: audience };
  expect((await cloudB.service.call('POST', '/auth/second/config', config)).status).toBe(204);
  expect((await cloudB.logInWith({})).status).toBe(200);
});

test('unknown key IDs do not fetch the keys again right after a fetch', async () => {
  await dropKeys();
  expect((await cloudB.logInWith({})).status).toBe(200);
  const before = calls();
  for (let n = 0; n < 5; n += 1) expect((await cloudB.logInWith({ kid: `unknown-${n}` })).status).toBe(403);
  expect(calls() - before).toBe(0);
});

describe('a write that names the tenant by a domain', () => {
  const domain = 'sandbox.onmicrosoft.com';
  const shown = async () => (await cloudB.service.call('GET', '/auth/cloudB/config')).body.data;
  const other = { tenant_id: 'contoso.example' };
  beforeEach(() => cloudB.configure());

  test.each([
    ['server-error', 503],
    ['reset', 503],
    ['garbage', 502],
    ['redirect', 502],
  ] as const)('changes nothing if the directory fails with %s', async (effect, status) => {
    cloudB.sandbox.directory.faults.add({ effect, operation: 'discovery' });
    const refused = await cloudB.configure({ tenant_id: domain, max_retries: 7 });
    expect(refused).toMatchObject({
      status,
      body: { errors: [expect.stringMatching(/^tenant_id: the directory/)] },
    });
    expect(await shown()).toMatchObject({ tenant_id: cloudB.sandbox.tenantId, max_retries: 3 });
  });

  test('is refused if no tenant has it, or if the directory of that environment is another one', async () => {
    const errors = ['tenant_id: no tenant of the directory has this domain'];
    expect(await cloudB.configure(other)).toMatchObject({ status: 400, body: { errors } });
    const elsewhere = await cloudB.configure({ tenant_id: domain, environment: 'china' });
    expect(elsewhere.body.errors).toEqual([expect.stringMatching(/^tenant_id: .* issuer$/)]);
  });

  test('does not ask the directory if it is invalid otherwise', async () => {
    const before = calls();
    expect((await cloudB.configure({ ...other, rotation_window: 60 })).body.errors[0]).toMatch(
      /rotation_window/,
    );
    expect(calls()).toBe(before);
  });

  test('is shown as it was given, with the ID; a later ID replaces both', async () => {
    expect((await cloudB.configure({ tenant_id: 'Sandbox.onmicrosoft.com' })).status).toBe(204);
    const { tenantId } = cloudB.sandbox;
    const given = { tenant_id: 'Sandbox.onmicrosoft.com', resolved_tenant_id: tenantId };
    expect(await shown()).toMatchObject(given);
    expect((await cloudB.service.call('PATCH', '/auth/cloudB/config', { max_retries: 4 })).status).toBe(204);
    expect(await shown()).toMatchObject({ ...given, max_retries: 4 });
    expect((await cloudB.logInWith({})).status).toBe(200);
    await cloudB.configure();
    expect(await shown()).toMatchObject({ tenant_id: tenantId });
    expect(await shown()).not.toHaveProperty('resolved_tenant_id');
  });

  test('sends no stored secret to another tenant, and keeps it for the same one', async () => {
    await cloudB.configure({ client_secret: 'canary' });
    expect((await cloudB.configure({ tenant_id: domain })).status).toBe(204);
    await cloudB.configure({ tenant_id: 'another-tenant', client_secret: 'canary' });
    const { status, body } = await cloudB.configure({ tenant_id: domain });
    expect([status, body.errors]).toEqual([
      400,
      [expect.stringMatching(/^client_secret is required if tenant_id/)],
    ]);
    await cloudB.configure({ client_secret: '' });
  });

  test('is not shown any more once an older version has written another tenant', async () => {
    await cloudB.configure({ tenant_id: domain });
    await cloudB.service.db.query(
      `update login.cloudb_configs set settings = settings || '{"tenant_id": "another-tenant"}'`,
    );
    expect(await shown()).toMatchObject({ tenant_id: 'another-tenant' });
    expect((await cloudB.configure({ tenant_id: domain })).status).toBe(204);
    expect(await shown()).toMatchObject({ resolved_tenant_id: cloudB.sandbox.tenantId });
  });
});

describe('the check of a configuration', () => {
  const check = async () => (await cloudB.service.call('POST', '/auth/cloudB/config/check')).body.data;

  test('reports that the directory responds', async () => {
    await dropKeys();
    const { ok, steps } = await check();
    expect(ok).toBe(true);
    const results = steps.map(({ result }: { result: string }) => result.split(':')[0]);
    expect(results).toEqual(['ok', 'ok', 'ok', 'not checked', 'not checked', 'not checked']);
  });

  test('finds a wrong tenant, with which logins fail', async () => {
    const sentence = 'the directory does not know the configured tenant_id';
    await cloudB.configure({ tenant_id: 'another-tenant' });
    const { ok, steps } = await check();
    expect([ok, steps[0].result]).toEqual([false, `failed: ${sentence}`]);
    expect(await cloudB.logInWith({})).toMatchObject({ status: 502, body: { errors: [sentence] } });
  });
});
