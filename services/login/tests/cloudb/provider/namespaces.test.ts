import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Caller } from '@secrets/caller';
import { testCaller } from '@secrets/http/testing';
import { type Sandbox, startSandbox } from '@secrets/sandbox';
import { virtualMachine } from '@secrets/sandbox/testing';
import type { LoginConfig } from '../../../src/config.ts';
import {
  anonymous,
  audience,
  type LoginForTest,
  sandboxUrls,
  startLoginForTest,
} from '../../login-for-test.ts';

// own modules: the SDK remembers where it found the managed identity.

const refusal =
  'this auth mount has no credentials: set client_id, and client_secret or identity_token_audience. Only mounts of the root and administrative namespaces use those of this service';
const oid = '11111111-aaaa-4bbb-8ccc-333333333333';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
  const { resourceManager, directory } = sandbox;
  const machine = virtualMachine(resourceManager.defaultGroup, 'mine', { principal: { principalId: oid } });
  resourceManager.addResource(machine);
  const { oid: principalId, resourceId } = directory.identities[0]!;
  resourceManager.addRoleAssignment({ principalId, scope: resourceId.split('/providers/')[0]! });
});
afterAll(() => sandbox.stop());

const credentials = (): [string, LoginConfig['credentials']][] => [
  ['client secret', sandbox.directory.application],
  ['managed identity', {}],
];

describe.each(['client secret', 'managed identity'])('the %s of the service', (kind) => {
  let service: LoginForTest;

  beforeAll(async () => {
    const own = credentials().find(([name]) => name === kind)![1];
    service = await startLoginForTest({ ...sandboxUrls(sandbox), credentials: own });
    for (const path of ['team', 'admin/team']) await service.call('POST', `/sys/namespaces/${path}`);
  });
  afterAll(() => service.stop());

  const inNamespace = async (path: string, of: Caller): Promise<Caller> => {
    const [row] = await service.db.query<{ id: string }>('select id from login.namespaces where path = $1', [
      path,
    ]);
    return testCaller({ ...of, namespace: { id: row!.id, path } });
  };

  /** The outcomes of a login and of the credentials step of `config/check`, in a mount with this configuration. */
  async function outcomes(namespace: string, config: object = {}) {
    const caller = await inNamespace(namespace, service.root);
    const { subscriptionId, resourceGroup } = sandbox.resourceManager.defaultGroup;
    await service.call('POST', '/sys/auth/cloudB', { type: 'cloudB' }, caller);
    const body = { tenant_id: sandbox.tenantId, resource: audience, retry_delay: 0, ...config };
    await service.call('POST', '/auth/cloudB/config', body, caller);
    await service.call('POST', '/auth/cloudB/role/r', { bound_resource_groups: resourceGroup }, caller);
    const check = await service.call('POST', '/auth/cloudB/config/check', {}, caller);
    const request = {
      role: 'r',
      jwt: await sandbox.directory.issueToken({ oid, audience }),
      subscription_id: subscriptionId,
      resource_group_name: resourceGroup,
      vm_name: 'mine',
    };
    const login = await service.call(
      'POST',
      '/auth/cloudB/login',
      request,
      await inNamespace(namespace, anonymous),
    );
    return [login.status, login.body.errors?.[0], check.body.data.steps[2].result];
  }

  test.each(['', 'admin'])('is used by a mount of the namespace %j', async (namespace) => {
    expect(await outcomes(namespace)).toEqual([200, undefined, 'ok']);
  });

  test.each(['team', 'admin/team'])('is not used by a mount of the namespace %j', async (namespace) => {
    const tokens = () => sandbox.directory.calls().filter(({ operation }) => operation.includes('token'));
    const before = tokens().length;
    const refused = [502, refusal, `failed: ${refusal}`];
    expect(await outcomes(namespace)).toEqual(refused);
    const { clientId, clientSecret } = sandbox.directory.application;
    expect(await outcomes(namespace, { client_id: clientId })).toEqual(refused);
    expect(tokens().length).toBe(before);
    const own = { client_id: clientId, client_secret: clientSecret };
    expect(await outcomes(namespace, own)).toEqual([200, undefined, 'ok']);
  });
});
