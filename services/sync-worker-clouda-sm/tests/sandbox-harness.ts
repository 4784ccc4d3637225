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
  type EgressGuard,
} from '@secrets/sync-worker';
import type { DriverHarness, FaultScenario } from '@secrets/sync-worker/testing';
import { createLogger } from '@secrets/telemetry';
import { type CloudASmOptions, cloudaSmDriver } from '../src/driver.ts';

export const region = 'eu-central-1';

const faults: Record<FaultScenario, FaultSpec> = {
  throttled: { effect: 'throttle', retryAfterSeconds: 7 },
  unavailable: { effect: 'server-error' },
  forbidden: { effect: 'error', code: 'AccessDeniedException', message: 'canary-7f3a' },
  unauthenticated: { effect: 'error', code: 'UnrecognizedClientException', message: 'canary-7f3a' },
  garbage: { effect: 'garbage' },
  huge: { effect: 'huge', bytes: 4 * 1024 * 1024 },
  redirect: { effect: 'redirect' },
  reset: { effect: 'reset' },
  silence: { effect: 'silence' },
  diesAfterActing: { effect: 'act-then-die', times: 1 },
};

/** The driver beside the simulated secrets manager; for tests. */
export interface CloudAHarness extends DriverHarness {
  sandbox: Sandbox;
  /** A client of somebody else. */
  stranger: SecretsManagerClient;
  /** The secret as the sandbox holds it, one scheduled for deletion included. */
  held(name: string, inRegion?: string): StoredSecret | undefined;
  /** Operations since the last look. */
  calls(): string[];
  driverWith(
    options: CloudASmOptions,
    over?: Partial<DestinationSettings>,
    egress?: EgressGuard,
  ): Promise<ConnectedDestination>;
}

export async function startHarness(
  cloudA: CloudAOptions = {},
  options: { clock?: () => number } = {},
): Promise<CloudAHarness> {
  const sandbox = await startSandbox({
    cloudA: { forcedDeleteMs: 0, replicationMs: 0, ...cloudA },
    ...options,
  });
  const { accessKeyId, secretAccessKey } = sandbox.credentials.cloudA;
  const lines: string[] = [];
  const log = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const stranger = new SecretsManagerClient({
    region,
    endpoint: sandbox.cloudAUrl,
    credentials: { accessKeyId, secretAccessKey },
  });
  let seen = 0;
  const held = (name: string, inRegion = region) =>
    sandbox.cloudA.secrets().find((secret) => secret.name === name && secret.region === inRegion);
  const driverWith = (
    driverOptions: CloudASmOptions,
    over: Partial<DestinationSettings> = {},
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
      { log, egress, prefix: 'secrets' },
    );
  return {
    sandbox,
    stranger,
    held,
    driverWith,
    calls() {
      const operations = sandbox.cloudA.calls().map(({ operation }) => operation);
      const fresh = operations.slice(seen);
      seen = operations.length;
      return fresh;
    },
    connect: (over) => driverWith({}, over),
    freshName: () => `secrets/kv_1/${randomUUID()}`,
    async external(name) {
      const secret = held(name);
      if (secret === undefined || secret.deleted_at !== null) return undefined;
      return { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
    async plantForeign(name, value) {
      await stranger.send(
        new CreateSecretCommand({ Name: name, SecretString: value, Tags: [{ Key: 'theirs', Value: 'x' }] }),
      );
    },
    inject: (scenario) => void sandbox.cloudA.faults.add(faults[scenario]),
    clear: () => sandbox.cloudA.faults.clear(),
    callCount: () => sandbox.cloudA.calls().length,
    outputs: () => JSON.stringify(sandbox.cloudA.calls()) + lines.join(''),
    async stop() {
      stranger.destroy();
      await sandbox.stop();
    },
  };
}

/** A value written past us. */
export async function writePast({ stranger }: CloudAHarness, name: string, value: string): Promise<void> {
  await stranger.send(new PutSecretValueCommand({ SecretId: name, SecretString: value }));
}
