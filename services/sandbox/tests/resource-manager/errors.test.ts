import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { FaultSpec } from '../../src/faults/fault-spec.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { holding } from '../stores/cloudb/cloudb-harness.ts';
import { resourceClients } from '../stores/cloudb/provider-clients.ts';

const audience = 'https://management.azure.com/';
let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());
beforeEach(() => sandbox.reset());

const errorWith = (status: number, code: string) => expect.objectContaining({ statusCode: status, code });
const getMachine = (options: Parameters<typeof resourceClients>[1] = {}, name = 'web-1', group = 'sandbox') =>
  resourceClients(sandbox, options).compute.virtualMachines.get(group, name);
const groupUrl = () => {
  const { subscriptionId } = sandbox.resourceManager.defaultGroup;
  return `${sandbox.resourceManagerUrl}/subscriptions/${subscriptionId}/resourceGroups/sandbox`;
};
async function send(url: string, headers: Record<string, string> = {}) {
  const { appid, oid } = { appid: 'a', oid: sandbox.directory.application.oid };
  const token = await sandbox.directory.issueToken({ oid, appid, audience });
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}`, ...headers } });
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, headers: response.headers, ...error };
}

describe('a request is refused', () => {
  test.each([
    ['without a token', () => fetch(`${groupUrl()}?api-version=2021-04-01`), 'AuthenticationFailed'],
  ])('%s', async (_, request, code) => {
    const response = await request();
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(response.headers.get('www-authenticate')).toContain(sandbox.tenantId);
  });

  test.each([
    ['for the vaults', { audience: 'https://vault.azure.net' }, 'InvalidAuthenticationTokenAudience'],
    [
      'for the API in China',
      { audience: 'https://management.chinacloudapi.cn' },
      'InvalidAuthenticationTokenAudience',
    ],
    ['that has expired', { expiresInSeconds: -600 }, 'ExpiredAuthenticationToken'],
    ['with another signature', { wrongKey: true }, 'InvalidAuthenticationToken'],
    ['without a signature', { algorithm: 'none' as const }, 'InvalidAuthenticationToken'],
    ['of another tenant', { overrides: { tid: 'another' } }, 'InvalidAuthenticationTokenTenant'],
    [
      'of another issuer',
      { overrides: { iss: 'https://sts.windows.net/x/' } },
      'InvalidAuthenticationTokenTenant',
    ],
  ])('with a token %s', async (_, options, code) => {
    const { oid } = sandbox.directory.application;
    const token = await sandbox.directory.issueToken({ oid, audience, ...options });
    await expect(getMachine({ credential: holding(token) })).rejects.toEqual(errorWith(401, code));
  });

  test('by an identity without a role, whether or not the resource exists', async () => {
    const token = await sandbox.directory.issueTokenFor('web-1', { audience });
    for (const name of ['web-1', 'absent'])
      await expect(getMachine({ credential: holding(token) }, name)).rejects.toEqual(
        errorWith(403, 'AuthorizationFailed'),
      );
  });

  test.each([
    ['without a version', '', 400, 'MissingApiVersionParameter'],
    ['with a version that is not a date', '?api-version=newest', 400, 'InvalidApiVersionParameter'],
    [
      'with a version that the type does not have',
      '?api-version=2019-01-02',
      400,
      'NoRegisteredProviderFound',
    ],
  ])('%s', async (_, query, status, code) => {
    const url = `${groupUrl()}/providers/Microsoft.Compute/virtualMachines/web-1${query}`;
    expect(await send(url)).toMatchObject({ status, code });
  });

  test.each([
    ['Microsoft.Nothing/things/x', 404, 'InvalidResourceNamespace'],
    ['Microsoft.Compute/things/x', 404, 'InvalidResourceType'],
    ['Microsoft.Compute/virtualMachines/web-10', 404, 'ResourceNotFound'],
    ['Microsoft.Compute/virtualMachines/web', 404, 'ResourceNotFound'],
    ['Microsoft.Compute/virtualMachines/web-1%2Fx', 400, 'InvalidRequestUri'],
    ['Microsoft.Compute/virtualMachineScaleSets/agents%2FvirtualMachines%2F0', 400, 'InvalidRequestUri'],
  ])('for %s', async (path, status, code) => {
    expect(await send(`${groupUrl()}/providers/${path}?api-version=2024-07-01`)).toMatchObject({
      status,
      code,
    });
  });

  test('for a group or a subscription that does not exist', async () => {
    await expect(getMachine({}, 'web-1', 'sandbox-2')).rejects.toEqual(
      errorWith(404, 'ResourceGroupNotFound'),
    );
    const subscriptionId = '00000000-0000-4000-8000-000000000000';
    await expect(getMachine({ subscriptionId })).rejects.toEqual(errorWith(404, 'SubscriptionNotFound'));
    await expect(getMachine({ subscriptionId: 'x' })).rejects.toEqual(
      errorWith(400, 'InvalidSubscriptionId'),
    );
  });
});

test.each([audience, 'https://management.azure.com', 'https://management.core.windows.net/'])(
  'a token for %s is accepted',
  async (accepted) => {
    const { oid } = sandbox.directory.application;
    const token = await sandbox.directory.issueToken({ oid, audience: accepted, version: 2 });
    expect((await getMachine({ credential: holding(token) })).name).toBe('web-1');
  },
);

test('each national cloud has its own audience', async () => {
  const endpoint = 'https://management.chinacloudapi.cn';
  const { oid } = sandbox.directory.application;
  const ofChina = await sandbox.directory.issueToken({ oid, audience: endpoint });
  const ofPublic = await sandbox.directory.issueToken({ oid, audience });
  expect((await getMachine({ endpoint, credential: holding(ofChina) })).name).toBe('web-1');
  await expect(getMachine({ endpoint, credential: holding(ofPublic) })).rejects.toEqual(
    errorWith(401, 'InvalidAuthenticationTokenAudience'),
  );
});

describe('a role assignment', () => {
  test('permits reading in its scope only', async () => {
    const { resourceManager, directory } = sandbox;
    const { subscriptionId } = resourceManager.defaultGroup;
    const [{ id: before = '' } = {}] = resourceManager.roleAssignments();
    expect(resourceManager.removeRoleAssignment(before)).toBe(true);
    await expect(getMachine()).rejects.toEqual(errorWith(403, 'AuthorizationFailed'));
    const principalId = directory.application.oid;
    for (const [scope, permits] of [
      [`/subscriptions/${subscriptionId}/resourceGroups/sand`, false],
      [`/subscriptions/${subscriptionId}/resourceGroups/SANDBOX`, true],
    ] as const) {
      resourceManager.addRoleAssignment({ principalId, scope });
      const found = getMachine();
      await (permits ? expect(found).resolves.toBeDefined() : expect(found).rejects.toThrow());
    }
    const { resources } = resourceClients(sandbox);
    await expect(resources.providers.get('Microsoft.Web')).rejects.toEqual(
      errorWith(403, 'AuthorizationFailed'),
    );
  });

  test('permits its actions only', async () => {
    const { resourceManager, directory } = sandbox;
    resourceManager.removeRoleAssignment(resourceManager.roleAssignments()[0]!.id);
    resourceManager.addRoleAssignment({
      principalId: directory.application.oid,
      scope: `/subscriptions/${resourceManager.defaultGroup.subscriptionId}`,
      actions: ['Microsoft.Compute/*/read'],
    });
    expect((await getMachine()).name).toBe('web-1');
    const { identities } = resourceClients(sandbox);
    await expect(identities.userAssignedIdentities.get('sandbox', 'build-agent')).rejects.toMatchObject({
      statusCode: 403,
      code: 'AuthorizationFailed',
    });
  });
});

describe('faults', () => {
  const withFault = (fault: FaultSpec) => {
    sandbox.resourceManager.faults.add({ ...fault, times: 1 });
    return getMachine();
  };

  test('a throttled request has Retry-After, and the client waits that long', async () => {
    await expect(withFault({ effect: 'throttle', retryAfterSeconds: 1 })).rejects.toEqual(
      errorWith(429, 'TooManyRequests'),
    );
    sandbox.resourceManager.faults.add({ effect: 'throttle', retryAfterSeconds: 1, times: 1 });
    const startedAt = performance.now();
    expect((await getMachine({ retryOptions: { maxRetries: 1 } })).name).toBe('web-1');
    expect(performance.now() - startedAt).toBeGreaterThan(950);
  });

  test('errors, delays and lost connections', async () => {
    await expect(withFault({ effect: 'error', status: 409, code: 'Busy' })).rejects.toEqual(
      errorWith(409, 'Busy'),
    );
    await expect(withFault({ effect: 'server-error' })).rejects.toEqual(
      errorWith(500, 'InternalServerError'),
    );
    await expect(withFault({ effect: 'reset' })).rejects.toThrow();
    expect((await withFault({ effect: 'slow', ms: 10 })).name).toBe('web-1');
    sandbox.resourceManager.faults.add({ effect: 'reset', operation: 'VirtualMachines_Get', name: 'other' });
    expect((await getMachine()).name).toBe('web-1');
  });
});

test('calls are logged with their operation and without the token', async () => {
  await getMachine();
  expect(sandbox.resourceManager.calls()).toMatchObject([
    {
      store: 'resource-manager',
      operation: 'VirtualMachines_Get',
      name: 'web-1',
      outcome: 200,
      sent: ['api-version'],
    },
  ]);
});
