import { randomUUID } from 'node:crypto';
import { createHttpHeaders } from '@azure/core-rest-pipeline';
import { SecretClient } from '@azure/keyvault-secrets';
import {
  type CloudBOptions,
  type FaultSpec,
  type Sandbox,
  type StoredSecret,
  startSandbox,
} from '@secrets/sandbox';
import { seal } from '@secrets/seal';
import {
  type ConnectedDestination,
  createEgressGuard,
  type DestinationSettings,
  type DriverContext,
  type EgressGuard,
} from '@secrets/sync-worker';
import type { DriverHarness, FaultScenario } from '@secrets/sync-worker/testing';
import { createLogger } from '@secrets/telemetry';
import { type CloudBKvOptions, cloudbKvDriver } from '../src/driver.ts';

const vault = 'https://main.vault.azure.net';

const faults = (message: string): Record<FaultScenario, FaultSpec> => ({
  throttled: { effect: 'throttle', retryAfterSeconds: 7 },
  unavailable: { effect: 'server-error' },
  forbidden: { effect: 'error', status: 403, code: 'ForbiddenByRbac', message },
  unauthenticated: { effect: 'error', status: 401, code: 'Unauthorized', message },
  garbage: { effect: 'garbage' },
  huge: { effect: 'huge', bytes: 4 * 1024 * 1024 },
  redirect: { effect: 'redirect' },
  reset: { effect: 'reset' },
  silence: { effect: 'silence' },
  diesAfterActing: { effect: 'act-then-die', times: 1 },
});

type DriverWith = (
  options: CloudBKvOptions & Partial<Pick<DriverContext, 'identityToken'>>,
  over?: Partial<DestinationSettings>,
  egress?: EgressGuard,
) => Promise<ConnectedDestination>;

/** The driver with the simulated vaults. */
export interface CloudBHarness extends DriverHarness {
  sandbox: Sandbox;
  /** A client that does not belong to the driver. */
  stranger: SecretClient;
  /** Returns the secret in the sandbox, also if it is deleted. */
  held(name: string, vaultHost?: string): StoredSecret | undefined;
  /** Returns the operations called since the last call of this function, at the vaults and at the directory. */
  calls(): string[];
  driverWith: DriverWith;
}

interface HarnessOptions {
  clock?: () => number;
  /** Part of the error messages of the sandbox. */
  canary?: string;
}

export async function startHarness(
  cloudB: CloudBOptions = {},
  { clock, canary = 'canary' }: HarnessOptions = {},
): Promise<CloudBHarness> {
  const sandbox = await startSandbox({
    cloudB: { deletionMs: 0, recoveryMs: 0, purgeMs: 0, ...cloudB },
    ...(clock === undefined ? {} : { clock }),
  });
  const stranger = strangerOf(sandbox);
  const { driverWith, lines } = driverOf(sandbox);
  return {
    sandbox,
    stranger,
    ...viewOf(sandbox),
    driverWith,
    connect: (over) => driverWith({}, over),
    freshName: () => `secrets-kv-1-${randomUUID()}`,
    async plantForeign(name, value) {
      await stranger.setSecret(name, value, { tags: { theirs: 'x' } });
    },
    inject: (scenario) => void sandbox.cloudB.faults.add(faults(canary)[scenario]),
    clear() {
      sandbox.cloudB.faults.clear();
      sandbox.directory.faults.clear();
    },
    outputs: () => JSON.stringify(sandbox.cloudB.calls()) + lines.join(''),
    stop: () => sandbox.stop(),
  };
}

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

/** Connects the driver to the sandbox, and collects what it logs. */
function driverOf(sandbox: Sandbox): { driverWith: DriverWith; lines: string[] } {
  const { tenantId, clientId, clientSecret } = sandbox.credentials.cloudB;
  const lines: string[] = [];
  const log = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const endpoints = { endpointUrl: sandbox.cloudBUrl, authorityUrl: sandbox.directoryUrl };
  const noToken = async () => 'none';
  const driverWith: DriverWith = (
    { identityToken = noToken, ...driverOptions },
    over = {},
    egress = createEgressGuard({}),
  ) =>
    cloudbKvDriver({ ...endpoints, ...driverOptions }).connect(
      {
        id: '5b0a6c3e-0000-4000-8000-000000000001',
        type: 'cloudB-kv',
        name: 'main',
        namespacePath: 'root',
        credentials: seal({ client_secret: clientSecret }),
        ...over,
        settings: {
          key_vault_uri: vault,
          tenant_id: tenantId,
          client_id: clientId,
          cloud: 'cloud',
          ...over.settings,
        },
      },
      { log, egress, prefix: 'secrets', identityToken },
    );
  return { driverWith, lines };
}

/** What the tests see of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CloudBHarness, 'held' | 'external' | 'calls' | 'callCount'> {
  let seen = 0;
  const held = (name: string, vaultHost = new URL(vault).host) =>
    sandbox.cloudB.secrets().find((secret) => secret.name === name && secret.region === vaultHost);
  const all = () =>
    [...sandbox.cloudB.calls(), ...sandbox.directory.calls()].sort((one, other) =>
      one.at.localeCompare(other.at),
    );
  return {
    held,
    async external(name) {
      const secret = held(name);
      if (secret === undefined || secret.deleted_at !== null) return undefined;
      return { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
    calls() {
      const operations = all().map(({ operation }) => operation);
      const fresh = operations.slice(seen);
      seen = operations.length;
      return fresh;
    },
    callCount: () => all().length,
  };
}
