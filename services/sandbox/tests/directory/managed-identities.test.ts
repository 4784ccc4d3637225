import { ManagedIdentityCredential } from '@azure/identity';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { decodeJwt } from 'jose';
import { type Sandbox, startSandbox } from '../../src/sandbox.ts';
import { userAssignedIdentity, virtualMachine } from '../../src/testing.ts';
import { resourceClients } from '../stores/cloudb/provider-clients.ts';

// own modules: the SDK remembers where it found the managed identity.

const audience = 'https://management.azure.com/';
const scope = `${audience}.default`;

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox();
  process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST = sandbox.url;
});
afterAll(async () => {
  delete process.env.AZURE_POD_IDENTITY_AUTHORITY_HOST;
  await sandbox.stop();
});
beforeEach(() => sandbox.reset());

const group = () => sandbox.resourceManager.defaultGroup;
const idOf = (path: string) =>
  `/subscriptions/${group().subscriptionId}/resourceGroups/sandbox/providers/${path}`;
const identityNamed = (name: string) => sandbox.directory.identities.find((one) => one.name === name)!;
const claimsOf = async (name: string, overrides: Record<string, unknown> = {}) =>
  decodeJwt(await sandbox.directory.issueTokenFor(name, { audience, overrides }));

describe('the token of an identity', () => {
  test('that is system-assigned names its machine', async () => {
    const claims = await claimsOf('web-1');
    expect(String(claims.xms_mirid)).toMatch(/\/resourcegroups\/sandbox\/.*\/virtualMachines\/web-1$/);
    expect(claims).not.toHaveProperty('xms_az_rid');
  });

  test.each([
    ['of a uniform scale set', 'build-agent', /\/virtualMachineScaleSets\/agents$/],
    [
      'of an instance of a flexible scale set',
      'build-agent@workers_0f4c1d2e',
      /\/virtualMachines\/workers_0f4c1d2e$/,
    ],
  ])('that is user-assigned %s names the identity, and what it runs on', async (_, name, resource) => {
    const claims = await claimsOf(name);
    expect(String(claims.xms_mirid)).toMatch(/\/userAssignedIdentities\/build-agent$/);
    expect(String(claims.xms_az_rid)).toMatch(resource);
    expect(claims.groups).toHaveLength(1);
  });

  test('differs from the one of a machine with the same name elsewhere', async () => {
    const other = { ...group(), subscriptionId: '99999999-2222-4333-8444-555555555555' };
    for (const resourceGroup of ['one', 'two'])
      sandbox.resourceManager.addResource(
        virtualMachine({ ...other, resourceGroup }, 'web-1', { principal: true }),
      );
    const names = sandbox.directory.identities
      .map(({ name }) => name)
      .filter((name) => name.startsWith('web-1'));
    expect(new Set(names).size).toBe(3);
    const { id } = virtualMachine({ ...other, resourceGroup: 'two' }, 'web-1');
    const oids = await Promise.all([...names, id].map(async (name) => (await claimsOf(name)).oid));
    expect(new Set(oids).size).toBe(3);
    expect(oids[3]).toBe(oids[2]);
    expect((await claimsOf(id)).xms_mirid).toBe(id.replace('resourceGroups', 'resourcegroups'));
  });

  test('refers to an endpoint instead of listing more than 200 groups', async () => {
    const groups = Array.from({ length: 201 }, (_, index) => `group-${index}`);
    const add = (count: number) =>
      sandbox.resourceManager.addResource(
        virtualMachine(group(), 'grouped', { principal: { groups: groups.slice(0, count) } }),
      );
    add(200);
    expect((await claimsOf('grouped')).groups).toHaveLength(200);
    add(201);
    const claims = await claimsOf('grouped');
    expect(claims).not.toHaveProperty('groups');
    expect(claims).toMatchObject({ _claim_names: { groups: 'src1' } });
  });

  test('names no resource if the directory is set so', async () => {
    sandbox.directory.configure({ resourceClaims: false });
    const query = `?api-version=2018-02-01&resource=${audience}`;
    const response = await fetch(`${sandbox.url}/metadata/identity/oauth2/token${query}`, {
      headers: { metadata: 'true' },
    });
    const { access_token } = (await response.json()) as { access_token: string };
    for (const claims of [decodeJwt(access_token), await claimsOf('build-agent')])
      for (const name of ['xms_mirid', 'xms_az_rid']) expect(claims).not.toHaveProperty(name);
  });

  test('may lack these claims, and may signal that it has too many groups', async () => {
    const overrides = { xms_mirid: null, xms_az_rid: null, groups: null, hasgroups: true };
    const claims = await claimsOf('build-agent', overrides);
    expect(claims).toMatchObject({ oid: identityNamed('build-agent').oid, hasgroups: true });
    for (const name of ['xms_mirid', 'xms_az_rid', 'groups']) expect(claims).not.toHaveProperty(name);
  });
});

describe('the metadata service', () => {
  const credential = new ManagedIdentityCredential();
  const fetchInstance = async (
    query = '?api-version=2021-02-01',
    headers: Record<string, string> = { metadata: 'true' },
  ) => {
    const response = await fetch(`${sandbox.url}/metadata/instance${query}`, { headers });
    return { status: response.status, body: (await response.json()) as { compute: Record<string, string> } };
  };

  test("returns tokens of the machine's own identity to the provider's client", async () => {
    const { token } = await credential.getToken(scope);
    expect(decodeJwt(token)).toMatchObject({ oid: identityNamed('web-1').oid });
  });

  test('returns tokens of the identity that the client names', async () => {
    const { appid, oid } = identityNamed('build-agent');
    const { token } = await new ManagedIdentityCredential(appid).getToken(scope);
    expect(decodeJwt(token)).toMatchObject({ oid, appid });
  });

  test('returns tokens that the resource API accepts, if the identity has a role', async () => {
    const { subscriptionId } = group();
    const principalId = identityNamed('web-1').oid;
    sandbox.resourceManager.addRoleAssignment({ principalId, scope: `/subscriptions/${subscriptionId}` });
    const { compute } = resourceClients(sandbox, { credential });
    expect((await compute.virtualMachines.get('sandbox', 'web-1')).identity?.principalId).toBe(principalId);
  });

  test.each([
    [null, { name: 'web-1', vmScaleSetName: '' }, 'Microsoft.Compute/virtualMachines/web-1'],
    [
      'Microsoft.Compute/virtualMachineScaleSets/agents',
      { name: 'agents_0', vmScaleSetName: 'agents' },
      'Microsoft.Compute/virtualMachineScaleSets/agents/virtualMachines/0',
    ],
    [
      'Microsoft.Compute/virtualMachines/workers_0f4c1d2e',
      { name: 'workers_0f4c1d2e', vmScaleSetName: 'workers' },
      'Microsoft.Compute/virtualMachines/workers_0f4c1d2e',
    ],
  ])('describes the machine %s', async (instance, names, path) => {
    sandbox.directory.configure({ instance: instance && idOf(instance) });
    const { subscriptionId, resourceGroup: resourceGroupName } = group();
    expect((await fetchInstance()).body.compute).toMatchObject({
      ...names,
      subscriptionId,
      resourceGroupName,
      location: 'westus',
      resourceId: idOf(path),
    });
  });

  test.each([
    ['without the Metadata header', '?api-version=2021-02-01', {}],
    ['with X-Forwarded-For', '?api-version=2021-02-01', { metadata: 'true', 'x-forwarded-for': '1.1.1.1' }],
    ['without a version', '', { metadata: 'true' }],
    ['with an unknown version', '?api-version=1999-01-01', { metadata: 'true' }],
  ])('rejects a request %s', async (_, query, headers) => {
    expect((await fetchInstance(query, headers)).status).toBe(400);
  });

  test('has no default token for a machine without identities, or with several user-assigned ones', async () => {
    const ids = ['one', 'two'].map(
      (name) => sandbox.resourceManager.addResource(userAssignedIdentity(group(), name)).id,
    );
    const query = `?api-version=2018-02-01&resource=${audience}`;
    for (const [userAssigned, message] of [
      [[], 'Identity not found'],
      [ids, /^Multiple user assigned identities exist/],
    ] as const) {
      const { id } = sandbox.resourceManager.addResource(
        virtualMachine(group(), 'other', { userAssigned: [...userAssigned] }),
      );
      sandbox.directory.configure({ instance: id });
      const response = await fetch(`${sandbox.url}/metadata/identity/oauth2/token${query}`, {
        headers: { metadata: 'true' },
      });
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({
        error: 'invalid_request',
        error_description: typeof message === 'string' ? message : expect.stringMatching(message),
      });
    }
  });
});
