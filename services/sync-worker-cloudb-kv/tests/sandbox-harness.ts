import { randomUUID } from 'node:crypto';
import { createHttpHeaders } from '@azure/core-rest-pipeline';
import { SecretClient } from '@azure/keyvault-secrets';
import { type CloudBOptions, type Sandbox, type StoredSecret, startSandbox } from '@secrets/sandbox';
import { seal } from '@secrets/seal';
import type { ConnectedDestination, ScopeMemory } from '@secrets/sync-worker';
import {
  type DriverWith,
  type HarnessOptions,
  type LoggingHarness,
  simulatedStores,
} from '@secrets/sync-worker/testing';
import { type CloudBKvOptions, cloudbKvDriver } from '../src/driver.ts';

const vault = 'https://main.vault.azure.net';

const refusals = {
  forbidden: { status: 403, code: 'ForbiddenByRbac' },
  unauthenticated: { status: 401, code: 'Unauthorized' },
  scopeGone: { status: 404, code: 'VaultNotFound' },
};

/** The driver with the simulated vaults. */
export interface CloudBHarness extends LoggingHarness {
  sandbox: Sandbox;
  /** A client that does not belong to the driver. */
  stranger: SecretClient;
  /** Returns the secret in the sandbox, also if it is deleted. */
  held(name: string, vaultHost?: string): StoredSecret | undefined;
  driverWith: DriverWith<CloudBKvOptions>;
  /** Connects with what is remembered of the vault's tenant. */
  connectAs(scope: ScopeMemory): Promise<ConnectedDestination>;
}

export async function startHarness(
  cloudB: CloudBOptions = {},
  { clock, canary = 'canary', tenantId }: HarnessOptions & { tenantId?: string } = {},
): Promise<CloudBHarness> {
  const sandbox = await startSandbox({
    cloudB: { deletionMs: 0, recoveryMs: 0, purgeMs: 0, ...cloudB },
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(clock === undefined ? {} : { clock }),
  });
  const stranger = strangerOf(sandbox);
  const { connectDriver, ...shared } = simulatedStores({
    stores: [sandbox.cloudB, sandbox.directory],
    reads: /^(Get|token$)/,
    refusals,
    canary,
    settingsIn: (record) => newestIn(record as VersionRecord),
    destination: destinationOf(sandbox),
  });
  const endpoints = { endpointUrl: sandbox.cloudBUrl, authorityUrl: sandbox.directoryUrl };
  const driverWith: CloudBHarness['driverWith'] = ({ identityToken, ...driverOptions }, over, egress) =>
    connectDriver(cloudbKvDriver({ ...endpoints, ...driverOptions }), over, { egress, identityToken });
  return {
    sandbox,
    stranger,
    ...shared,
    ...viewOf(sandbox),
    driverWith,
    connectAs: (scope) => connectDriver(cloudbKvDriver(endpoints), {}, { scope }),
    connect: (over) => driverWith({}, over),
    freshName: () => `secrets-kv-1-${randomUUID()}`,
    async plantForeign(name, value) {
      await stranger.setSecret(name, value, { tags: { theirs: 'x' } });
    },
    changeOutside: (change, name) => changeOutside({ sandbox, stranger }, change, name),
    stop: () => sandbox.stop(),
  };
}

async function changeOutside(
  { sandbox, stranger }: Pick<CloudBHarness, 'sandbox' | 'stranger'>,
  change: string,
  name: string,
): Promise<void> {
  if (change === 'value') await stranger.setSecret(name, 'theirs');
  else if (change === 'deleted') await stranger.beginDeleteSecret(name);
  else if (['recreated', 'certificate', 'purged'].includes(change)) {
    await (await stranger.beginDeleteSecret(name, { intervalInMs: 20 })).pollUntilDone();
    await stranger.purgeDeletedSecret(name);
    if (change === 'recreated') await stranger.setSecret(name, 'theirs');
    else if (change === 'certificate')
      sandbox.cloudB.importCertificate(name, 'theirs', new URL(vault).host, false);
  } else {
    const { version = '' } = (await stranger.getSecret(name)).properties;
    const changed = change === 'tags' ? { tags: {} } : { enabled: false };
    await stranger.updateSecretProperties(name, version, changed);
  }
}

/** A version, as the sandbox records it. Times are in milliseconds since 1970, dates in seconds. */
interface VersionRecord {
  secret: { newest: string };
  version: { id: string; createdAtMs: number; exp?: number };
}

/** The newest version, which expires minutes after it was created. */
const newestIn = ({ secret, version }: VersionRecord): object | undefined =>
  secret.newest === version.id
    ? { ...version, exp: version.exp && Math.round((version.exp - version.createdAtMs / 1_000) / 60) }
    : undefined;

/** The provider's own client, whose requests are sent to the sandbox. */
function strangerOf(sandbox: Sandbox): SecretClient {
  const audience = 'https://vault.azure.net';
  const credential = {
    getToken: async () => ({
      token: await sandbox.directory.issueTokenFor('web-1', { audience }),
      expiresOnTimestamp: Date.now() + 3_600_000,
    }),
  };
  return new SecretClient(vault, credential, {
    httpClient: {
      async sendRequest(request) {
        const { host, pathname, search } = new URL(request.url);
        const headers = { ...request.headers.toJSON(), 'x-forwarded-host': host };
        const response = await fetch(`${sandbox.cloudBUrl}${pathname}${search}`, {
          method: request.method,
          headers,
          body: (request.body ?? null) as string | null,
        });
        const received = createHttpHeaders(Object.fromEntries(response.headers));
        return { request, status: response.status, headers: received, bodyAsText: await response.text() };
      },
    },
  });
}

function destinationOf({ credentials }: Sandbox) {
  const { tenantId: tenant_id, clientId: client_id, clientSecret } = credentials.cloudB;
  return {
    settings: { key_vault_uri: vault, tenant_id, client_id, cloud: 'cloud' },
    credentials: seal({ client_secret: clientSecret }),
  };
}

/** Returns functions that read the state of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CloudBHarness, 'held' | 'external'> {
  const held = (name: string, vaultHost = new URL(vault).host) =>
    sandbox.cloudB.secrets().find((secret) => secret.name === name && secret.region === vaultHost);
  return {
    held,
    async external(name) {
      const secret = held(name);
      if (secret === undefined || secret.deleted_at !== null) return undefined;
      return { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
  };
}
