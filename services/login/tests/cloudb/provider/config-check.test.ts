import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type ProviderForTest, startProviderForTest } from './provider-for-test.ts';

let cloud: ProviderForTest;

beforeAll(async () => {
  cloud = await startProviderForTest();
});
afterEach(() => cloud.sandbox.reset());
afterAll(() => cloud.stop());

/** The results of the steps in order: directory, keys, credentials, look-ups, identities, rotation. */
async function check(body = {}): Promise<string[]> {
  const response = await cloud.service.call('POST', '/auth/cloudB/config/check', body);
  if (response.status !== 200) return response.body.errors;
  return response.body.data.steps.map(({ result }: { result: string }) => result);
}

const inDefaultGroup = () => {
  const { subscriptionId, resourceGroup } = cloud.sandbox.resourceManager.defaultGroup;
  return { subscription_id: subscriptionId, resource_group_name: resourceGroup };
};

test('permissions are checked where the request says', async () => {
  const [, , credentials, lookups, identities] = await check(inDefaultGroup());
  expect([credentials, lookups, identities]).toEqual(['ok', 'ok', 'ok']);
  expect(await check({ subscription_id: inDefaultGroup().subscription_id })).toEqual([
    'subscription_id and resource_group_name must be given together',
  ]);
});

test('permissions are checked where the roles bind logins', async () => {
  const { subscription_id } = inDefaultGroup();
  const elsewhere = '11111111-aaaa-4bbb-8ccc-222222222222';
  expect((await check())[3]).toMatch(/^not checked: no role binds a subscription/);
  await cloud.service.call('POST', '/auth/cloudB/role/web', { bound_subscription_ids: [subscription_id] });
  expect((await check())[3]).toBe('ok');
  const { oid: principalId } = cloud.sandbox.directory.application;
  const actions = ['Microsoft.Network/*'];
  cloud.sandbox.resourceManager.addRoleAssignment({
    principalId,
    scope: `/subscriptions/${elsewhere}`,
    actions,
  });
  await cloud.service.call('POST', '/auth/cloudB/role/other', {
    bound_subscription_ids: [subscription_id, elsewhere],
    bound_resource_groups: ['one', 'two'],
  });
  expect((await check()).slice(3, 5)).toEqual([
    expect.stringMatching(/^failed: .* need the permission Microsoft.Compute\//),
    expect.stringMatching(/^failed: .* Microsoft.ManagedIdentity\/userAssignedIdentities\/read$/),
  ]);
});

test('what needs credentials is not checked with wrong ones', async () => {
  await cloud.configure({ client_secret: 'wrong' });
  expect(await check(inDefaultGroup())).toEqual([
    'ok',
    'ok',
    'failed: the directory refuses the configured client_secret: it is wrong (AADSTS7000215)',
    ...Array.from({ length: 3 }, () => 'not checked: working credentials are needed first'),
  ]);
});
