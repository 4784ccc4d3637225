import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Problem } from '@secrets/domain';
import type { EnvironmentCredentials } from '../../../src/auth-methods/cloudb/provider/credentials/credential-source.ts';
import { anonymous, type LoginForTest } from '../../login-for-test.ts';
import { type ProviderForTest, startProviderForTest } from './provider-for-test.ts';

// own modules: the SDK remembers where it found the managed identity.

let cloud: ProviderForTest;

beforeAll(async () => {
  cloud = await startProviderForTest();
});
afterEach(() => cloud.sandbox.reset());
afterAll(() => cloud.stop());

async function findMachine(environment?: EnvironmentCredentials) {
  const provider = await cloud.replica(environment).provider();
  return provider.findMachine({ ...cloud.sandbox.resourceManager.defaultGroup, name: 'web-1' });
}
const problem = (environment?: EnvironmentCredentials): Promise<Pick<Problem, 'kind' | 'message'>> =>
  findMachine(environment).then(
    () => ({ kind: 'invalid', message: 'did not fail' }),
    (error: Problem) => error,
  );

describe('a client secret', () => {
  const wrong = {
    kind: 'bad_gateway',
    message: 'the directory refuses the configured client_secret: it is wrong (AADSTS7000215)',
  };

  test('that is stored takes precedence over the one of the environment', async () => {
    const { clientId, clientSecret } = cloud.sandbox.directory.application;
    await cloud.configure();
    expect(await findMachine({ clientId: 'other', clientSecret: 'wrong' })).toBeDefined();
    await cloud.configure({ client_id: '', client_secret: '' });
    expect(await findMachine({ clientId, clientSecret })).toBeDefined();
    expect(await problem({ clientId, clientSecret: 'wrong' })).toMatchObject(wrong);
  });

  test.each([
    ['is wrong', { client_secret: 'wrong' }, /: it is wrong \(AADSTS7000215\)$/],
    [
      'is of an unknown application',
      { client_id: 'x' },
      /does not know the configured client_id .*\(AADSTS700016\)/,
    ],
    [
      'is for an unknown tenant',
      { tenant_id: 'elsewhere' },
      /does not know the configured tenant_id \(AADSTS90002\)/,
    ],
    ['has no application', { client_id: '' }, /client_id is not configured, which client_secret needs/],
  ])('that %s is refused with the reason', async (_what, over, message) => {
    await cloud.configure(over);
    expect(await problem()).toMatchObject({ kind: 'bad_gateway', message: expect.stringMatching(message) });
  });

  test.each([
    ['server-error', 'unavailable', 'the directory returned status 503'],
    ['throttle', 'unavailable', 'the directory returned status 429'],
    ['reset', 'unavailable', 'the directory does not respond'],
    ['garbage', 'bad_gateway', 'the directory returned a response that is not an access token'],
    ['redirect', 'bad_gateway', 'the directory returned a response that is not an access token'],
    ['huge', 'bad_gateway', "the provider's response is too large (over 4194304 bytes)"],
    ['many-headers', 'unavailable', 'the directory does not respond'],
    ['empty', 'bad_gateway', 'the directory returned a response that is not an access token'],
    ['cut-off', 'unavailable', 'the directory does not respond'],
    ['deep', 'bad_gateway', "the provider's response is too large (over 4194304 bytes)"],
  ] as const)('fails if the directory fails with %s', async (effect, kind, message) => {
    await cloud.configure();
    cloud.sandbox.directory.faults.add({ effect, operation: 'token' });
    expect(await problem()).toMatchObject({ kind, message });
  });
});

// Before the next one: the SDK keeps a token.
test.each([
  ['server-error', 'unavailable', 'the instance metadata returned status 503'],
  ['garbage', 'bad_gateway', 'the instance metadata returned a response that is not an access token'],
  ['redirect', 'bad_gateway', 'the instance metadata returned a response that is not an access token'],
  ['many-headers', 'unavailable', 'the instance metadata does not respond'],
  ['empty', 'bad_gateway', 'the instance metadata returned a response that is not an access token'],
  ['cut-off', 'unavailable', 'the instance metadata does not respond'],
] as const)(
  'a managed identity cannot be used while its service fails with %s',
  async (effect, kind, message) => {
    await cloud.configure({ client_id: '', client_secret: '' });
    cloud.sandbox.directory.faults.add({ effect, operation: 'metadata-token' });
    expect(await problem()).toMatchObject({ kind, message });
  },
);

test('a mount without credentials uses the managed identity of this service', async () => {
  const [identity] = cloud.sandbox.directory.identities;
  const { resourceManager } = cloud.sandbox;
  resourceManager.addRoleAssignment({ principalId: identity!.oid, scope: identity!.resourceId });
  await cloud.configure({ client_id: '', client_secret: '' });
  cloud.calls();
  expect(await findMachine()).toBeDefined();
  expect(cloud.calls()).toEqual(['metadata-token', 'VirtualMachines_Get']);
  await cloud.configure({ client_id: '11111111-aaaa-4bbb-8ccc-000000000000', client_secret: '' });
  expect(await problem()).toMatchObject({
    kind: 'bad_gateway',
    message: 'the instance on which this service runs has no such managed identity (status 400)',
  });
});

describe('federation', () => {
  const audience = 'api://AzureADTokenExchange';
  let documents: Server;
  let base: string;

  beforeAll(async () => {
    [documents, base] = await publishDocuments(cloud.service);
    await cloud.configure({ client_secret: '', identity_token_audience: audience });
  });
  afterAll(() => {
    documents.close();
    documents.closeAllConnections();
  });

  const register = (over = {}) =>
    cloud.sandbox.federation.add({
      store: 'cloudB-kv',
      issuer: `${base}/v1/identity/oidc/plugins`,
      subject: `plugin-identity:root:auth:${cloud.accessor}`,
      audience,
      ...over,
    });

  test('needs an issuer', async () => {
    expect(await problem()).toMatchObject({
      kind: 'bad_gateway',
      message: 'the identity token issuer is not configured: set issuer in identity/oidc/config',
    });
  });

  test('exchanges a token about the mount for an access token', async () => {
    await cloud.service.call('POST', '/identity/oidc/config', { issuer: base });
    const id = register();
    expect(await findMachine()).toBeDefined();
    cloud.sandbox.federation.remove(id);
  });

  test.each([
    ['issuer', { issuer: 'http://127.0.0.1:1' }, /does not trust the issuer .*AADSTS700211/],
    ['subject', { subject: 'plugin-identity:root:auth:other' }, /does not trust the subject .*AADSTS700213/],
    ['audience', { audience: 'api://other' }, /does not trust the audience .*AADSTS700212/],
  ])('fails if the federated credential has another %s', async (_what, over, message) => {
    const id = register(over);
    expect(await problem()).toMatchObject({ kind: 'bad_gateway', message: expect.stringMatching(message) });
    cloud.sandbox.federation.remove(id);
  });
});

/** Serves the public documents of the service as the gateway does. */
async function publishDocuments(service: LoginForTest): Promise<[Server, string]> {
  const server = createServer(async (request, response) => {
    const path = request.url!.replace(/^\/v1/, '');
    const { status, body } = await service.call('GET', path, undefined, anonymous);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`];
}

test.each(['china', 'usgovernment'])('the endpoints and audiences of %s differ', async (environment) => {
  await cloud.configure({
    environment,
    identity_token_audience: '',
    client_secret: cloud.sandbox.directory.application.clientSecret,
  });
  expect(await findMachine()).toBeDefined(); // the resource API checks the audience of its cloud
});

describe('the debug log', () => {
  test('shows each request and response, and neither secret, assertion nor access token', async () => {
    const { clientSecret } = cloud.sandbox.directory.application;
    await cloud.configure({ environment: 'public' });
    await findMachine();
    await cloud.configure({ client_secret: 'canary-wrong-secret' });
    await problem();
    await cloud.configure({ client_secret: '', identity_token_audience: 'api://x' });
    await problem();
    const lines = cloud.service
      .logged()
      .split('\n')
      .filter((line) => line.includes('request to the provider'))
      .map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({
        method: 'GET',
        status: 200,
        url: expect.stringMatching(/virtualMachines\/web-1\?api-version=/),
        durationMs: expect.any(Number),
        requestHeaders: expect.objectContaining({ authorization: '*****' }),
        responseBody: expect.stringContaining('"location":"westus"'),
      }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({
        method: 'POST',
        status: 401,
        requestBody: expect.stringContaining('"client_secret":"*****"'),
        responseBody: expect.stringContaining('AADSTS7000215'),
      }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({ requestBody: expect.stringContaining('"client_assertion":"*****"') }),
    );
    const text = JSON.stringify(lines);
    expect(text).not.toContain(clientSecret);
    expect(text).not.toContain('canary-wrong-secret');
    expect(text).not.toMatch(/eyJ/); // how every JWT begins
  });
});
