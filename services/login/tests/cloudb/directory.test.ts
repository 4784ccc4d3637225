import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous, audience, type CloudBForTest, oid, startCloudBForTest } from '../login-for-test.ts';

let cloudB: CloudBForTest;

beforeAll(async () => {
  cloudB = await startCloudBForTest();
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

test('writing a configuration does not drop the keys that another mount uses, and fetches them again', async () => {
  const { service, sandbox } = cloudB;
  const config = { tenant_id: sandbox.tenantId, resource: audience };
  await service.call('POST', '/sys/auth/neighbour', { type: 'cloudB' });
  await service.call('POST', '/auth/neighbour/config', config);
  await service.call('POST', '/auth/neighbour/role/web', { bound_service_principal_ids: oid });
  const logInAtNeighbour = async () =>
    service.call('POST', '/auth/neighbour/login', { role: 'web', jwt: await cloudB.issueJwt() }, anonymous);
  for (const answer of [await cloudB.logInWith({}), await logInAtNeighbour()])
    expect(answer.status).toBe(200);
  sandbox.directory.faults.add({ effect: 'server-error' });
  for (let write = 0; write < 3; write += 1) await service.call('POST', '/auth/neighbour/config', config);
  expect((await cloudB.logInWith({})).status).toBe(200);
  await service.call('DELETE', '/auth/neighbour/config');
  expect((await cloudB.logInWith({})).status).toBe(200);
});

test('unknown key IDs do not fetch the keys again right after a fetch', async () => {
  await dropKeys();
  expect((await cloudB.logInWith({})).status).toBe(200);
  const before = calls();
  for (let n = 0; n < 5; n += 1) expect((await cloudB.logInWith({ kid: `unknown-${n}` })).status).toBe(403);
  expect(calls() - before).toBe(0);
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
