import { randomUUID } from 'node:crypto';
import {
  CreateSecretCommand,
  DeleteSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UntagResourceCommand,
} from '@aws-sdk/client-secrets-manager';
import { type CloudAOptions, type Sandbox, type StoredSecret, startSandbox } from '@secrets/sandbox';
import { seal } from '@secrets/seal';
import type { ConnectedDestination, DestinationSettings, Driver, ScopeMemory } from '@secrets/sync-worker';
import {
  type DriverWith,
  type HarnessOptions,
  type LoggingHarness,
  simulatedStores,
} from '@secrets/sync-worker/testing';
import { type CloudASmOptions, cloudaSmDriver } from '../src/driver.ts';

const region = 'eu-central-1';

const refusals = {
  forbidden: { code: 'AccessDeniedException' },
  unauthenticated: { code: 'UnrecognizedClientException' },
  scopeGone: { status: 404, code: 'UnknownOperationException' }, // an account or a region is never "not found"
};

/** The driver with the simulated secrets manager. */
export interface CloudAHarness extends LoggingHarness {
  sandbox: Sandbox;
  /** A client that does not belong to the driver. */
  stranger: SecretsManagerClient;
  /** Returns the secret in the sandbox, also if it is scheduled for deletion. */
  held(name: string, inRegion?: string): StoredSecret | undefined;
  driverWith: DriverWith<CloudASmOptions>;
  /** Connects with what is remembered of the account. */
  connectAs(
    driver: Driver,
    over: Partial<DestinationSettings>,
    scope: ScopeMemory,
  ): Promise<ConnectedDestination>;
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
  const { connectDriver, ...shared } = simulatedStores({
    stores: [sandbox.cloudA],
    reads: /^(Describe|Get|List|AssumeRole)/,
    refusals,
    canary,
    destination: destinationOf(sandbox),
  });
  const driverWith: CloudAHarness['driverWith'] = ({ identityToken, ...driverOptions }, over, egress) =>
    connectDriver(cloudaSmDriver({ endpointUrl: sandbox.cloudAUrl, ...driverOptions }), over, {
      egress,
      identityToken,
    });
  return {
    sandbox,
    stranger,
    ...shared,
    ...viewOf(sandbox),
    driverWith,
    connectAs: (driver, over, scope) => connectDriver(driver, over, { scope }),
    connect: (over) => driverWith({}, over),
    freshName: () => `secrets/kv_1/${randomUUID()}`,
    async plantForeign(name, value) {
      await stranger.send(
        new CreateSecretCommand({ Name: name, SecretString: value, Tags: [{ Key: 'theirs', Value: 'x' }] }),
      );
    },
    changeOutside: (change, name) => changeOutside(stranger, change, name),
    async stop() {
      stranger.destroy();
      await sandbox.stop();
    },
  };
}

async function changeOutside(
  stranger: SecretsManagerClient,
  change: string,
  SecretId: string,
): Promise<void> {
  if (change === 'value')
    await stranger.send(new PutSecretValueCommand({ SecretId, SecretString: 'theirs' }));
  else if (change === 'tags')
    await stranger.send(new UntagResourceCommand({ SecretId, TagKeys: ['managed-by'] }));
  else if (change === 'recreated') {
    await stranger.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }));
    await stranger.send(new CreateSecretCommand({ Name: SecretId, SecretString: 'theirs' }));
  } else if (change === 'purged')
    await stranger.send(new DeleteSecretCommand({ SecretId, ForceDeleteWithoutRecovery: true }));
  else await stranger.send(new DeleteSecretCommand({ SecretId, RecoveryWindowInDays: 7 }));
}

function destinationOf({ credentials }: Sandbox) {
  const { accessKeyId, secretAccessKey } = credentials.cloudA;
  return {
    settings: { region },
    credentials: seal({ access_key_id: accessKeyId, secret_access_key: secretAccessKey }),
  };
}

/** Returns functions that read the state of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CloudAHarness, 'held' | 'external'> {
  const held = (name: string, inRegion = region) =>
    sandbox.cloudA.secrets().find((secret) => secret.name === name && secret.region === inRegion);
  return {
    held,
    async external(name) {
      const secret = held(name);
      if (secret === undefined || secret.deleted_at !== null) return undefined;
      return { value: secret.value, tags: secret.tags, writes: secret.version_count };
    },
  };
}

/** Writes a value without the driver's knowledge. */
export async function writePast({ stranger }: CloudAHarness, name: string, value: string): Promise<void> {
  await stranger.send(new PutSecretValueCommand({ SecretId: name, SecretString: value }));
}
