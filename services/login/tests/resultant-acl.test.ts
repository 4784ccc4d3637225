import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type LoginForTest, startLoginForTest } from './login-for-test.ts';

let login: LoginForTest;
beforeAll(async () => {
  login = await startLoginForTest();
});
afterAll(() => login.stop());

test('the resulting rules of a caller are combined by path', async () => {
  const policies = {
    one: 'path "kv/data/a" { capabilities = ["read"] } path "kv/*" { capabilities = ["list", "subscribe"] }',
    two: 'path "kv/data/a" { capabilities = ["update"] } path "+/b" { capabilities = ["deny", "read"] }',
  };
  for (const [name, policy] of Object.entries(policies))
    await login.call('POST', `/sys/policies/acl/${name}`, { policy });
  const caller = testCaller({ policies: ['one'], identityPolicies: ['two'], grants: [] });
  const { data } = (await login.call('GET', '/sys/internal/ui/resultant-acl', undefined, caller)).body;
  expect(data).toEqual({
    root: false,
    exact_paths: { 'kv/data/a': { capabilities: ['read', 'update'] } },
    glob_paths: { 'kv/': { capabilities: ['list', 'subscribe'] }, '+/b': { capabilities: ['deny'] } },
  });
});

test('root has no rules', async () => {
  expect((await login.call('GET', '/sys/internal/ui/resultant-acl')).body.data).toEqual({ root: true });
});

test('the settings of the built-in auth mount can be read', async () => {
  const { data } = (await login.call('GET', '/sys/auth/token/tune')).body;
  expect(data).toMatchObject({ default_lease_ttl: 2_764_800, max_lease_ttl: 2_764_800 });
});
