import { randomUUID } from 'node:crypto';
import { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { type CloudCOptions, type Sandbox, type StoredSecret, startSandbox } from '@secrets/sandbox';
import { seal } from '@secrets/seal';
import type { ConnectedDestination, ScopeMemory } from '@secrets/sync-worker';
import {
  type DriverWith,
  type HarnessOptions,
  type LoggingHarness,
  simulatedStores,
} from '@secrets/sync-worker/testing';
import { JWT } from 'google-auth-library';
import { type CloudCSmOptions, cloudcSmDriver } from '../src/driver.ts';

const project = 'sandbox-project';

const refusals = {
  forbidden: { status: 403, code: 'PERMISSION_DENIED' },
  unauthenticated: { status: 401, code: 'UNAUTHENTICATED' },
  scopeGone: { status: 404, code: 'NOT_FOUND' },
};

const provider = {
  refusals,
  /** Leaves out versions: those that a put does not remember stay. */
  settingsIn: (record: object) => ('version' in record ? undefined : record),
};

/** The driver with the simulated secret manager. */
export interface CloudCHarness extends LoggingHarness {
  sandbox: Sandbox;
  /** A client that does not belong to the driver, and the full name of a secret. */
  stranger: SecretManagerServiceClient;
  nameOf(id: string): string;
  /** Returns the secret in the sandbox. */
  held(name: string): StoredSecret | undefined;
  /** Returns the state of each version, oldest first. */
  states(name: string): Promise<string[]>;
  driverWith: DriverWith<CloudCSmOptions>;
  /** Connects with what is remembered of the project. */
  connectAs(scope: ScopeMemory): Promise<ConnectedDestination>;
}

export async function startHarness(
  cloudC: CloudCOptions = {},
  { clock, canary = 'canary', location = '' }: HarnessOptions & { location?: string } = {},
): Promise<CloudCHarness> {
  const sandbox = await startSandbox({ cloudC, ...(clock === undefined ? {} : { clock }) });
  const stranger = strangerOf(sandbox, location);
  const parent = parentOf(location);
  const { connectDriver, ...shared } = simulatedStores({
    stores: [sandbox.cloudC],
    reads: /^(Get|List|Access|token$)/,
    ...provider,
    canary,
    destination: destinationOf(sandbox, location),
  });
  const driverWith: CloudCHarness['driverWith'] = ({ identityToken, ...driverOptions }, over, egress) =>
    connectDriver(cloudcSmDriver({ endpointUrl: sandbox.cloudCUrl, ...driverOptions }), over, {
      egress,
      identityToken,
    });
  const nameOf = (id: string) => `${parent}/secrets/${id}`;
  const storage = location === '' ? { replication: { automatic: {} } } : {};
  const plantForeign = (secretId: string, value: string) =>
    plant(stranger, { parent, secretId, secret: { ...storage, labels: { theirs: 'x' } } }, value);
  return {
    sandbox,
    stranger,
    nameOf,
    ...shared,
    ...viewOf(sandbox),
    async states(id) {
      const [versions] = await stranger.listSecretVersions({ parent: nameOf(id) });
      return versions.map(({ state }) => String(state)).reverse();
    },
    driverWith,
    connectAs: (scope) => connectDriver(cloudcSmDriver({ endpointUrl: sandbox.cloudCUrl }), {}, { scope }),
    connect: (over) => driverWith({}, over),
    freshName: () => `secrets-kv_1-${randomUUID()}`,
    plantForeign,
    async changeOutside(change, id) {
      await changeAs(stranger, change, nameOf(id));
      if (change === 'recreated') await plantForeign(id, 'theirs');
    },
    async stop() {
      await stranger.close();
      await sandbox.stop();
    },
  };
}

async function changeAs(stranger: SecretManagerServiceClient, change: string, name: string): Promise<void> {
  if (change === 'value')
    await stranger.addSecretVersion({ parent: name, payload: { data: Buffer.from('theirs') } });
  else if (change === 'labels')
    await stranger.updateSecret({ secret: { name, labels: {} }, updateMask: { paths: ['labels'] } });
  else if (change === 'disabled') await stranger.disableSecretVersion({ name: `${name}/versions/1` });
  else if (change === 'destroyed') await stranger.destroySecretVersion({ name: `${name}/versions/1` });
  else await stranger.deleteSecret({ name });
}

async function plant(
  stranger: SecretManagerServiceClient,
  created: { parent: string; secretId: string; secret: object },
  value: string,
): Promise<void> {
  await stranger.createSecret(created);
  const payload = { data: Buffer.from(value) };
  await stranger.addSecretVersion({ parent: `${created.parent}/secrets/${created.secretId}`, payload });
}

const parentOf = (location: string): string =>
  location === '' ? `projects/${project}` : `projects/${project}/locations/${location}`;

/** A client for the secrets of a location; if that is empty, for those that are not regional. */
export function strangerOf({ url, credentials }: Sandbox, location: string): SecretManagerServiceClient {
  const { hostname, port } = new URL(url);
  const { client_email: email, private_key: key } = JSON.parse(credentials.cloudC.credentials);
  const authClient = new JWT({ email, key, scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
  if (location !== '')
    authClient.transporter.interceptors.request.add({
      resolved: async (config) => {
        config.headers.set('x-forwarded-host', `secretmanager.${location}.rep.googleapis.com`);
        return config;
      },
    });
  return new SecretManagerServiceClient({
    apiEndpoint: hostname,
    port: Number(port),
    protocol: 'http',
    fallback: true,
    authClient,
  });
}

const destinationOf = ({ credentials }: Sandbox, location: string) => ({
  settings: { project_id: project, ...(location === '' ? {} : { location }) },
  credentials: seal({ credentials: credentials.cloudC.credentials }),
});

/** Returns functions that read the state of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CloudCHarness, 'held' | 'external'> {
  const held = (name: string) => sandbox.cloudC.secrets().find((secret) => secret.name === name);
  return {
    held,
    async external(name) {
      const secret = held(name);
      return secret && { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
  };
}
