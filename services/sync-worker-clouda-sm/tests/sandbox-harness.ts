import { randomUUID } from 'node:crypto';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import {
  type CloudAOptions,
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
import { type CloudASmOptions, cloudaSmDriver } from '../src/driver.ts';

const region = 'eu-central-1';

const faults = (message: string): Record<FaultScenario, FaultSpec> => ({
  throttled: { effect: 'throttle', retryAfterSeconds: 7 },
  unavailable: { effect: 'server-error' },
  forbidden: { effect: 'error', code: 'AccessDeniedException', message },
  unauthenticated: { effect: 'error', code: 'UnrecognizedClientException', message },
  garbage: { effect: 'garbage' },
  huge: { effect: 'huge', bytes: 4 * 1024 * 1024 },
  redirect: { effect: 'redirect' },
  reset: { effect: 'reset' },
  silence: { effect: 'silence' },
  diesAfterActing: { effect: 'act-then-die', times: 1 },
});

type DriverWith = (
  options: CloudASmOptions & Partial<Pick<DriverContext, 'identityToken'>>,
  over?: Partial<DestinationSettings>,
  egress?: EgressGuard,
) => Promise<ConnectedDestination>;

/** The driver with the simulated secrets manager. */
export interface CloudAHarness extends DriverHarness {
  sandbox: Sandbox;
  /** A client that does not belong to the driver. */
  stranger: SecretsManagerClient;
  /** Returns the secret in the sandbox, also if it is scheduled for deletion. */
  held(name: string, inRegion?: string): StoredSecret | undefined;
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
  cloudA: CloudAOptions = {},
  { clock, canary = 'canary' }: HarnessOptions = {},
): Promise<CloudAHarness> {
  const sandbox = await startSandbox({
    cloudA: { forcedDeleteMs: 0, replicationMs: 0, ...cloudA },
    ...(clock === undefined ? {} : { clock }),
  });
  const stranger = new SecretsManagerClient({
    region,
    endpoint: sandbox.cloudAUrl,
    credentials: sandbox.credentials.cloudA,
  });
  const { driverWith, lines } = driverOf(sandbox);
  return {
    sandbox,
    stranger,
    ...viewOf(sandbox),
    driverWith,
    connect: (over) => driverWith({}, over),
    freshName: () => `secrets/kv_1/${randomUUID()}`,
    async plantForeign(name, value) {
      await stranger.send(
        new CreateSecretCommand({ Name: name, SecretString: value, Tags: [{ Key: 'theirs', Value: 'x' }] }),
      );
    },
    inject: (scenario) => void sandbox.cloudA.faults.add(faults(canary)[scenario]),
    clear: () => sandbox.cloudA.faults.clear(),
    outputs: () => JSON.stringify(sandbox.cloudA.calls()) + lines.join(''),
    async stop() {
      stranger.destroy();
      await sandbox.stop();
    },
  };
}

/** Connects the driver to the sandbox, and collects what it logs. */
function driverOf(sandbox: Sandbox): { driverWith: DriverWith; lines: string[] } {
  const { accessKeyId, secretAccessKey } = sandbox.credentials.cloudA;
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
    cloudaSmDriver({ endpointUrl: sandbox.cloudAUrl, ...driverOptions }).connect(
      {
        id: '5b0a6c3e-0000-4000-8000-000000000001',
        type: 'cloudA-sm',
        name: 'main',
        namespacePath: 'root',
        credentials: seal({ access_key_id: accessKeyId, secret_access_key: secretAccessKey }),
        ...over,
        settings: { region, ...over.settings },
      },
      { log, egress, prefix: 'secrets', identityToken },
    );
  return { driverWith, lines };
}

/** What the tests see of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CloudAHarness, 'held' | 'external' | 'calls' | 'callCount'> {
  let seen = 0;
  const held = (name: string, inRegion = region) =>
    sandbox.cloudA.secrets().find((secret) => secret.name === name && secret.region === inRegion);
  return {
    held,
    async external(name) {
      const secret = held(name);
      if (secret === undefined || secret.deleted_at !== null) return undefined;
      return { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
    calls() {
      const operations = sandbox.cloudA.calls().map(({ operation }) => operation);
      const fresh = operations.slice(seen);
      seen = operations.length;
      return fresh;
    },
    callCount: () => sandbox.cloudA.calls().length,
  };
}

/** Writes a value without the driver's knowledge. */
export async function writePast({ stranger }: CloudAHarness, name: string, value: string): Promise<void> {
  await stranger.send(new PutSecretValueCommand({ SecretId: name, SecretString: value }));
}
