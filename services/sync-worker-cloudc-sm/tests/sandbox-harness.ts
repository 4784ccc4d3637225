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
  { clock, canary = 'canary' }: HarnessOptions = {},
): Promise<CloudCHarness> {
  const sandbox = await startSandbox({ cloudC, ...(clock === undefined ? {} : { clock }) });
  const stranger = strangerOf(sandbox);
  const { connectDriver, ...shared } = simulatedStores({
    stores: [sandbox.cloudC],
    reads: /^(Get|List|Access|token$)/,
    ...provider,
    canary,
    destination: destinationOf(sandbox),
  });
  const driverWith: CloudCHarness['driverWith'] = ({ identityToken, ...driverOptions }, over, egress) =>
    connectDriver(cloudcSmDriver({ endpointUrl: sandbox.cloudCUrl, ...driverOptions }), over, {
      egress,
      identityToken,
    });
  const nameOf = (id: string) => `projects/${project}/secrets/${id}`;
  const plantForeign = (secretId: string, value: string) => plant(stranger, secretId, value);
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
      const name = nameOf(id);
      if (change === 'value')
        await stranger.addSecretVersion({ parent: name, payload: { data: Buffer.from('theirs') } });
      else if (change === 'labels')
        await stranger.updateSecret({ secret: { name, labels: {} }, updateMask: { paths: ['labels'] } });
      else if (change === 'disabled') await stranger.disableSecretVersion({ name: `${name}/versions/1` });
      else await stranger.deleteSecret({ name });
      if (change === 'recreated') await plantForeign(id, 'theirs');
    },
    async stop() {
      await stranger.close();
      await sandbox.stop();
    },
  };
}

async function plant(stranger: SecretManagerServiceClient, secretId: string, value: string): Promise<void> {
  const parent = `projects/${project}`;
  const secret = { replication: { automatic: {} }, labels: { theirs: 'x' } };
  await stranger.createSecret({ parent, secretId, secret });
  const payload = { data: Buffer.from(value) };
  await stranger.addSecretVersion({ parent: `${parent}/secrets/${secretId}`, payload });
}

function strangerOf({ url, credentials }: Sandbox): SecretManagerServiceClient {
  const { hostname, port } = new URL(url);
  const { client_email: email, private_key: key } = JSON.parse(credentials.cloudC.credentials);
  const authClient = new JWT({ email, key, scopes: ['https://www.googleapis.com/auth/cloud-platform'] });
  return new SecretManagerServiceClient({
    apiEndpoint: hostname,
    port: Number(port),
    protocol: 'http',
    fallback: true,
    authClient,
  });
}

const destinationOf = ({ credentials }: Sandbox) => ({
  settings: { project_id: project },
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
