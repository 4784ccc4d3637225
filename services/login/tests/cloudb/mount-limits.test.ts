import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type CloudBForTest, oid, startCloudBForTest } from '../login-for-test.ts';

let cloudB: CloudBForTest;

beforeAll(async () => {
  cloudB = await startCloudBForTest();
});
afterAll(() => cloudB.stop());
beforeEach(() => tune({ default_lease_ttl: 0, max_lease_ttl: 0 }));

const tune = (body: object) => cloudB.service.call('POST', '/sys/auth/cloudB/tune', body);
const leaseOf = async (role: string) => (await cloudB.logInWith({}, role)).body.auth.lease_duration;

test('the default TTL of a mount applies to roles without a TTL, from the next login on', async () => {
  await cloudB.writeRole('plain', { bound_service_principal_ids: oid });
  expect(await leaseOf('plain')).toBe(768 * 3_600);
  await tune({ default_lease_ttl: '10m' });
  expect(await leaseOf('plain')).toBe(600);
  expect(await leaseOf('web')).toBe(3_600);
});

test.each(['service', 'batch'])('the maximum TTL of a mount bounds its %s tokens', async (token_type) => {
  await cloudB.writeRole('long', { bound_service_principal_ids: oid, token_ttl: '2h', token_type });
  await tune({ max_lease_ttl: '30m' });
  expect(await leaseOf('long')).toBe(1_800);
});

test('the maximum TTL of a mount bounds periods', async () => {
  await cloudB.writeRole('periodic', { bound_service_principal_ids: oid, token_period: '2h' });
  const { client_token: token } = (await cloudB.logInWith({}, 'periodic')).body.auth;
  await tune({ max_lease_ttl: '30m' });
  expect(await leaseOf('periodic')).toBe(1_800);
  await cloudB.service.db.query("update login.tokens set expires_at = now() + interval '1 s'");
  const renewed = await cloudB.service.call('POST', '/auth/token/renew', { token });
  expect(renewed.body.auth.lease_duration).toBe(1_800);
});

test('a renewal is bounded by the current maximum TTL of the mount', async () => {
  const { client_token: token } = (await cloudB.logInWith({})).body.auth;
  await tune({ max_lease_ttl: '2h' });
  const { body } = await cloudB.service.call('POST', '/auth/token/renew', { token, increment: '5h' });
  expect(body.auth.lease_duration).toBeGreaterThan(7_000);
  expect(body.auth.lease_duration).toBeLessThanOrEqual(7_200);
  expect(body.warnings[0]).toMatch(/was shortened/);
});
