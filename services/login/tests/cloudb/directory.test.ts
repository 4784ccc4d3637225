import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { audience, type CloudBForTest, startCloudBForTest } from '../login-for-test.ts';

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
