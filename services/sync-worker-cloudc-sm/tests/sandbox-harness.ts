import { randomUUID } from 'node:crypto';
import { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import {
  type CloudCOptions,
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
import { JWT } from 'google-auth-library';
import { type CloudCSmOptions, cloudcSmDriver } from '../src/driver.ts';

const project = 'sandbox-project';

const faults = (message: string): Record<FaultScenario, FaultSpec> => ({
  throttled: { effect: 'throttle', retryAfterSeconds: 7 },
  unavailable: { effect: 'server-error' },
  forbidden: { effect: 'error', status: 403, code: 'PERMISSION_DENIED', message },
  unauthenticated: { effect: 'error', status: 401, code: 'UNAUTHENTICATED', message },
  garbage: { effect: 'garbage' },
  huge: { effect: 'huge', bytes: 4 * 1024 * 1024 },
  redirect: { effect: 'redirect' },
  reset: { effect: 'reset' },
  silence: { effect: 'silence' },
  diesAfterActing: { effect: 'act-then-die', times: 1 },
});

type DriverWith = (
  options: CloudCSmOptions & Partial<Pick<DriverContext, 'identityToken'>>,
  over?: Partial<DestinationSettings>,
  egress?: EgressGuard,
) => Promise<ConnectedDestination>;

/** The driver with the simulated secret manager. */
export interface CloudCHarness extends DriverHarness {
  sandbox: Sandbox;
  /** A client that does not belong to the driver, and the full name of a secret. */
  stranger: SecretManagerServiceClient;
  nameOf(id: string): string;
  /** Returns the secret in the sandbox. */
  held(name: string): StoredSecret | undefined;
  /** Returns the state of each version, oldest first. */
  states(name: string): Promise<string[]>;
  /** Returns the operations called since the last call of this function. */
  calls(): string[];
  driverWith: DriverWith;
}

interface HarnessOptions {
  clock?: () => number;
  /** Part of the error messages of the sandbox. */
  canary?: string;
}

export async function startHarness(
  cloudC: CloudCOptions = {},
  { clock, canary = 'canary' }: HarnessOptions = {},
): Promise<CloudCHarness> {
  const sandbox = await startSandbox({ cloudC, ...(clock === undefined ? {} : { clock }) });
  const stranger = strangerOf(sandbox);
  const { driverWith, lines } = driverOf(sandbox);
  const nameOf = (id: string) => `projects/${project}/secrets/${id}`;
  return {
    sandbox,
    stranger,
    nameOf,
    ...viewOf(sandbox),
    async states(id) {
      const [versions] = await stranger.listSecretVersions({ parent: nameOf(id) });
      return versions.map(({ state }) => String(state)).reverse();
    },
    driverWith,
    connect: (over) => driverWith({}, over),
    freshName: () => `secrets-kv_1-${randomUUID()}`,
    async plantForeign(secretId, value) {
      const secret = { replication: { automatic: {} }, labels: { theirs: 'x' } };
      await stranger.createSecret({ parent: `projects/${project}`, secretId, secret });
      await stranger.addSecretVersion({ parent: nameOf(secretId), payload: { data: Buffer.from(value) } });
    },
    inject: (scenario) => void sandbox.cloudC.faults.add(faults(canary)[scenario]),
    clear: () => sandbox.cloudC.faults.clear(),
    outputs: () => JSON.stringify(sandbox.cloudC.calls()) + lines.join(''),
    async stop() {
      await stranger.close();
      await sandbox.stop();
    },
  };
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

/** Connects the driver to the sandbox, and collects what it logs. */
function driverOf(sandbox: Sandbox): { driverWith: DriverWith; lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const noToken = async () => 'none';
  const driverWith: DriverWith = (
    { identityToken = noToken, ...driverOptions },
    over = {},
    egress = createEgressGuard({}),
  ) =>
    cloudcSmDriver({ endpointUrl: sandbox.cloudCUrl, ...driverOptions }).connect(
      {
        id: '5b0a6c3e-0000-4000-8000-000000000001',
        type: 'cloudC-sm',
        name: 'main',
        namespacePath: 'root',
        credentials: seal({ credentials: sandbox.credentials.cloudC.credentials }),
        ...over,
        settings: { project_id: project, ...over.settings },
      },
      { log, egress, prefix: 'secrets', identityToken },
    );
  return { driverWith, lines };
}

/** What the tests see of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CloudCHarness, 'held' | 'external' | 'calls' | 'callCount'> {
  let seen = 0;
  const held = (name: string) => sandbox.cloudC.secrets().find((secret) => secret.name === name);
  return {
    held,
    async external(name) {
      const secret = held(name);
      return secret && { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
    calls() {
      const operations = sandbox.cloudC.calls().map(({ operation }) => operation);
      const fresh = operations.slice(seen);
      seen = operations.length;
      return fresh;
    },
    callCount: () => sandbox.cloudC.calls().length,
  };
}
