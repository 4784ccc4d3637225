import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { seal } from '@secrets/seal';
import { createEgressGuard } from '@secrets/sync-worker';
import { newValue, ownWords, putRequest } from '@secrets/sync-worker/testing';
import { startHarness } from './sandbox-harness.ts';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { put, putNew } = driver;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const keyFile = () => JSON.parse(driver.harness.sandbox.credentials.cloudC.credentials);
const connectWith = async (over: object) =>
  driver.keep(
    await driver.harness.connect({
      credentials: seal({ credentials: JSON.stringify({ ...keyFile(), ...over }) }),
    }),
  );
const aPut = () => putRequest(driver.harness.freshName(), 'one');

/** A file that exists during the test. */
function fileWith(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'cloudc-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'file.json'), content);
  return join(folder, 'file.json');
}

async function listening(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('common: every socket goes through the egress guard', () => {
  const egress = () => createEgressGuard({ resolve: async () => ['169.254.169.254'] });

  test('that of a call', async () => {
    const inward = driver.keep(await driver.harness.driverWith({ endpointUrl: undefined }, {}, egress()));
    await expect(put(aPut(), inward)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(
        /^connection to secretmanager\.googleapis\.com refused: its address is not public/,
      ),
    });
  });

  test('that of a request for a token', async () => {
    const external = {
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: 'https://sts.googleapis.com/v1/token',
      credential_source: { file: fileWith('a token') },
    };
    const options = { credentialsFile: fileWith(JSON.stringify(external)) };
    const inward = driver.keep(await driver.harness.driverWith(options, { credentials: seal({}) }, egress()));
    await expect(put(aPut(), inward)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/^connection to sts\.googleapis\.com refused/),
    });
  });

  test('that to the metadata server, whose host alone is permitted', async () => {
    let isAsked = false;
    const metadataHost = await listening((_request, response) => {
      isAsked = true;
      response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end();
    });
    const options = { metadataHost };
    const redirected = driver.keep(await driver.harness.driverWith(options, { credentials: seal({}) }));
    await expect(put(aPut(), redirected)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining('the metadata server returned no token'),
    });
    expect(isAsked).toBe(true);
  });

  test('no proxy of the environment is used', async () => {
    let isAsked = false;
    const proxy = await listening((_request, response) => {
      isAsked = true;
      response.end();
    });
    process.env.HTTPS_PROXY = `http://${proxy}`;
    closing.push(() => delete process.env.HTTPS_PROXY);
    const { name } = await putNew(driver.keep(await driver.harness.connect()));
    expect(driver.harness.held(name)?.value).toBe('one');
    expect(isAsked).toBe(false);
  });
});

describe('common: a token that is refused is refreshed once', () => {
  test('and then the call succeeds', async () => {
    const request = aPut();
    driver.harness.calls();
    driver.harness.sandbox.cloudC.faults.add({ effect: 'refuse-signature', times: 1 });
    await put(request);
    expect(driver.harness.calls()).toEqual(['CreateSecret', 'CreateSecret', 'AddSecretVersion']);
  });

  test('and if it is refused again, the fault is unauthenticated', async () => {
    const { private_key } = { private_key: otherKey() };
    const wrong = await connectWith({ private_key });
    driver.harness.calls();
    await expect(put(aPut(), wrong)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining(
        'CreateSecret: the credentials were not accepted (UNAUTHENTICATED: ACCESS_TOKEN_TYPE_UNSUPPORTED)',
      ),
    });
    expect(driver.harness.calls()).toEqual(['CreateSecret', 'CreateSecret']);
  });
});

describe('cloudC-sm 9: URLs in credentials', () => {
  test.each(['token_uri', 'auth_uri', 'anything'])('%s must point to the provider', async (field) => {
    await expect(connectWith({ [field]: 'https://canary.example/token' })).rejects.toMatchObject({
      kind: 'rejected',
      message: `credentials: ${field} points neither to the provider nor to the configured endpoint`,
    });
  });

  test('or to the origin of the configured endpoint', async () => {
    const connected = await connectWith({ token_uri: `${driver.harness.sandbox.cloudCUrl}/token` });
    await put(aPut(), connected);
  });
});

describe('cloudC-sm 10: credentials', () => {
  test('of a service account sign their own tokens: no call requests one', async () => {
    driver.harness.calls();
    await put(aPut(), driver.keep(await driver.harness.connect()));
    expect(driver.harness.calls()).toEqual(['CreateSecret', 'AddSecretVersion']);
  });

  test('of the environment come from its file', async () => {
    const options = { credentialsFile: fileWith(JSON.stringify(keyFile())) };
    const store = driver.keep(await driver.harness.driverWith(options, { credentials: seal({}) }));
    await put(aPut(), store);
  });

  test.each([
    ['a missing file', () => '/none/of/this.json', /GOOGLE_APPLICATION_CREDENTIALS cannot be read/],
    [
      'a person',
      () => fileWith('{"type":"authorized_user"}'),
      /must be a service_account, or an external_account/,
    ],
    [
      'a program',
      () => fileWith('{"type":"external_account","credential_source":{"executable":{"command":"canary"}}}'),
      /with a file or a URL/,
    ],
    ['no JSON', () => fileWith('canary'), /must be a service_account, or an external_account/],
  ])('of the environment are rejected if there is %s', async (_case, file, message) => {
    const connecting = driver.harness.driverWith({ credentialsFile: file() }, { credentials: seal({}) });
    await expect(connecting).rejects.toMatchObject({
      kind: 'rejected',
      message: expect.stringMatching(message),
    });
  });

  test('of the environment come from the metadata server if there is no file, and are kept', async () => {
    let requests = 0;
    const { sandbox } = driver.harness;
    const token = await tokenOf(sandbox.cloudCUrl, keyFile());
    const metadataHost = await listening(({ url, headers }, response) => {
      requests += 1;
      const isRight =
        url === '/computeMetadata/v1/instance/service-accounts/default/token' &&
        headers['metadata-flavor'] === 'Google';
      response.writeHead(isRight ? 200 : 404).end(JSON.stringify({ access_token: token, expires_in: 3600 }));
    });
    const store = driver.keep(await driver.harness.driverWith({ metadataHost }, { credentials: seal({}) }));
    const request = aPut();
    const { remote } = await put(request, store);
    await put({ ...request, ...newValue(request, 'two'), remote }, store);
    expect(driver.harness.held(request.externalName)?.value).toBe('two');
    expect(requests).toBe(1);
  });

  test.each([
    [429, 'throttled', 7],
    [500, 'unavailable', 7],
    [503, 'unavailable', 7],
    [403, 'unauthenticated', undefined],
    [404, 'unauthenticated', undefined],
  ])(
    'of the environment: while the metadata server responds with %i, the fault is %s',
    async (status, kind, retryAfterSeconds) => {
      const metadataHost = await listening((_request, response) => {
        response.writeHead(status, { 'retry-after': '7' }).end('canary');
      });
      const store = driver.keep(await driver.harness.driverWith({ metadataHost }, { credentials: seal({}) }));
      const failed = put(aPut(), store);
      await expect(failed).rejects.toMatchObject({ kind, retryAfterSeconds });
      await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining('canary') });
    },
  );

  test.each<[string, RequestListener]>([
    [
      'with half a body',
      (_request, response) =>
        void response.writeHead(200, { 'content-length': '90' }).write('{"', () => response.destroy()),
    ],
    ['with many headers', (_request, response) => void response.writeHead(200, manyHeaders).end('canary')],
    ['with deep JSON', (_request, response) => void response.end('['.repeat(100_000))],
    ['not at all', (request) => void request.socket.destroy()],
  ])(
    'of the environment: while the metadata server answers %s, calls are unavailable',
    async (_, listener) => {
      const metadataHost = await listening(listener);
      const store = driver.keep(await driver.harness.driverWith({ metadataHost }, { credentials: seal({}) }));
      await expect(put(aPut(), store)).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringMatching(ownWords),
      });
    },
  );

  test.each(['', '<html>canary</html>', '{"access_token":"canary"}', '[]'])(
    'of the environment: a metadata server that answers with %j has no token',
    async (answer) => {
      const metadataHost = await listening((_request, response) => void response.end(answer));
      const store = driver.keep(await driver.harness.driverWith({ metadataHost }, { credentials: seal({}) }));
      const failed = put(aPut(), store);
      await expect(failed).rejects.toMatchObject({ kind: 'unauthenticated' });
      await expect(failed).rejects.not.toMatchObject({ message: expect.stringContaining('canary') });
    },
  );

  test('may use another project that lets them', async () => {
    const own = await startHarness({ projects: ['other-project'] });
    closing.push(() => own.stop());
    const connected = await own.connect({ settings: { project_id: 'other-project' } });
    closing.push(() => connected.close());
    const request = putRequest(own.freshName(), 'one');
    await connected.put(request, AbortSignal.timeout(60_000));
    expect(own.held(request.externalName)?.region).toBe('other-project');
  });
});

const manyHeaders = Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`x-${at}`, 'x']));

const otherKey = () =>
  generateKeyPairSync('rsa', { modulusLength: 2048 })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

/** A token of the sandbox's token endpoint. */
async function tokenOf(url: string, { client_email, private_key }: Record<string, string>): Promise<string> {
  const { JWT, gaxios } = await import('google-auth-library');
  const transporter = new gaxios.Gaxios({
    fetchImplementation: (_provider, init) => fetch(`${url}/token`, { ...init } as RequestInit),
  });
  const scopes = ['https://www.googleapis.com/auth/cloud-platform'];
  const client = new JWT({ email: String(client_email), key: String(private_key), scopes, transporter });
  return String((await client.getAccessToken()).token);
}
