import { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { afterAll, beforeAll, beforeEach, expect } from '@jest/globals';
import { JWT, type JWTOptions } from 'google-auth-library';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox.ts';

type ClientOptions = NonNullable<ConstructorParameters<typeof SecretManagerServiceClient>[0]>;

/** The provider's own client for a sandbox, unmodified. */
export function cloudCClient(sandbox: Sandbox, options: ClientOptions = {}): SecretManagerServiceClient {
  const { hostname, port } = new URL(sandbox.url);
  return new SecretManagerServiceClient({
    apiEndpoint: hostname,
    port: Number(port),
    protocol: 'http',
    fallback: true,
    authClient: serviceAccount(sandbox),
    projectId: sandbox.credentials.cloudC.projectId,
    ...options,
  });
}

/** The sandbox's service account, as the provider's library uses a key file. */
export function serviceAccount(sandbox: Sandbox, options: JWTOptions = {}): JWT {
  const { client_email: email, private_key: key } = JSON.parse(sandbox.credentials.cloudC.credentials);
  return new JWT({ email, key, scopes: ['https://www.googleapis.com/auth/cloud-platform'], ...options });
}

/** The client for the API's host in a location, which a proxy of the sandbox would name. */
export function regionalClient(sandbox: Sandbox, location: string): SecretManagerServiceClient {
  const authClient = serviceAccount(sandbox);
  authClient.transporter.interceptors.request.add({
    resolved: async (config) => {
      config.headers.set('x-forwarded-host', `secretmanager.${location}.rep.googleapis.com`);
      return config;
    },
  });
  return cloudCClient(sandbox, { authClient });
}

/** The canonical codes, as the provider's client reports them (google.rpc.Code). */
export const codes = {
  INVALID_ARGUMENT: 3,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  INTERNAL: 13,
  UNAUTHENTICATED: 16,
} as const;

/** Matches an error of the provider's client by its code. */
export const errorWith = (code: keyof typeof codes) => expect.objectContaining({ code: codes[code] });

/** A sandbox and a client for the tests of one file, reset before each test. Its clock moves only by `advance`. */
export function useCloudC(options: SandboxOptions['cloudC'] = {}) {
  const startMs = Date.now();
  let offsetMs = 0;
  let sandbox: Sandbox;
  let client: SecretManagerServiceClient;
  const parent = 'projects/sandbox-project';
  beforeAll(async () => {
    sandbox = await startSandbox({ clock: () => startMs + offsetMs, cloudC: options });
    client = cloudCClient(sandbox);
  });
  afterAll(async () => {
    await client.close();
    await sandbox.stop();
  });
  beforeEach(() => {
    offsetMs = 0;
    sandbox.reset();
  });
  const nameOf = (id: string) => `${parent}/secrets/${id}`;
  return {
    parent,
    nameOf,
    sandbox: () => sandbox,
    client: () => client,
    advance: (ms: number) => {
      offsetMs += ms;
    },
    create: async (secretId: string, secret: object = {}) =>
      (
        await client.createSecret({ parent, secretId, secret: { replication: { automatic: {} }, ...secret } })
      )[0],
    get: async (id: string) => (await client.getSecret({ name: nameOf(id) }))[0],
    add: async (id: string, text: string, payload: object = {}) =>
      (
        await client.addSecretVersion({
          parent: nameOf(id),
          payload: { data: Buffer.from(text), ...payload },
        })
      )[0],
    access: async (id: string, version = 'latest') =>
      (await client.accessSecretVersion({ name: `${nameOf(id)}/versions/${version}` }))[0],
    held: () => sandbox.cloudC.secrets(),
  };
}
