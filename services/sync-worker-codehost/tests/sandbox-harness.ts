import { randomUUID } from 'node:crypto';
import { Octokit } from '@octokit/rest';
import {
  type CodehostOptions,
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
import { codehostDriver } from '../src/driver.ts';
import { sealFor } from '../src/secret/scope-key.ts';

const faults = (message: string): Record<FaultScenario, FaultSpec> => ({
  throttled: { effect: 'throttle', retryAfterSeconds: 7 },
  unavailable: { effect: 'server-error' },
  forbidden: { effect: 'error', status: 403, code: 'Forbidden', message },
  unauthenticated: { effect: 'error', status: 401, code: 'BadCredentials', message },
  garbage: { effect: 'garbage' },
  huge: { effect: 'huge', bytes: 4 * 1024 * 1024 },
  redirect: { effect: 'redirect' },
  reset: { effect: 'reset' },
  silence: { effect: 'silence' },
  diesAfterActing: { effect: 'act-then-die', times: 1 },
});

/** The destination of most tests. */
export const web = { repository_owner: 'acme', repository_name: 'web' };

/** The driver with the simulated code host. */
export interface CodehostHarness extends DriverHarness {
  sandbox: Sandbox;
  /** A client that does not belong to the driver. */
  stranger: Octokit;
  /** Returns the secret in the sandbox; `place` is how the sandbox shows its repository, environment or organization. */
  held(name: string, place?: string): StoredSecret | undefined;
  /** Returns the operations called since the last call of this function. */
  calls(): string[];
  connectWith(over: Partial<DestinationSettings>, egress: EgressGuard): Promise<ConnectedDestination>;
}

interface HarnessOptions {
  clock?: () => number;
  /** Part of the error messages of the sandbox. */
  canary?: string;
}

export async function startHarness(
  codehost: CodehostOptions = {},
  { clock, canary = 'canary' }: HarnessOptions = {},
): Promise<CodehostHarness> {
  const sandbox = await startSandbox({
    codehost,
    ...(clock === undefined ? {} : { clock }),
  });
  const auth = sandbox.credentials.codehost.accessToken;
  const stranger = new Octokit({ baseUrl: sandbox.codehostUrl, auth });
  const { connectWith, lines } = driverOf(sandbox);
  return {
    sandbox,
    stranger,
    ...viewOf(sandbox),
    connectWith,
    connect: (over = {}) => connectWith(over, createEgressGuard({})),
    freshName: () => `SECRETS_KV_1_${randomUUID().replaceAll('-', '_').toUpperCase()}`,
    plantForeign: (name, value) => writePast(stranger, name, value),
    inject: (scenario) => void sandbox.codehost.faults.add(faults(canary)[scenario]),
    clear: () => sandbox.codehost.faults.clear(),
    outputs: () => JSON.stringify(sandbox.codehost.calls()) + lines.join(''),
    stop: () => sandbox.stop(),
  };
}

/** Connects the driver to the sandbox, and collects what it logs. */
function driverOf(sandbox: Sandbox): Pick<CodehostHarness, 'connectWith'> & { lines: string[] } {
  const lines: string[] = [];
  const log = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const { accessToken } = sandbox.credentials.codehost;
  return {
    lines,
    connectWith: (over, egress) =>
      codehostDriver({ endpointUrl: sandbox.codehostUrl }).connect(
        {
          id: '5b0a6c3e-0000-4000-8000-000000000001',
          type: 'codehost',
          name: 'main',
          namespacePath: 'root',
          credentials: seal({ access_token: accessToken }),
          ...over,
          settings: { ...web, ...over.settings },
        },
        { log, egress, prefix: 'secrets', identityToken: async () => 'none' },
      ),
  };
}

/** What the tests see of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CodehostHarness, 'held' | 'external' | 'calls' | 'callCount'> {
  let seen = 0;
  const held = (name: string, place = 'acme/web') =>
    sandbox.codehost.secrets().find((secret) => secret.name === name && secret.region === place);
  return {
    held,
    async external(name) {
      const secret = held(name);
      return secret && { value: secret.value, tags: {}, writes: secret.version_count };
    },
    calls() {
      const operations = sandbox.codehost.calls().map(({ operation }) => operation);
      const fresh = operations.slice(seen);
      seen = operations.length;
      return fresh;
    },
    callCount: () => sandbox.codehost.calls().length,
  };
}

/** Writes a secret of the repository `acme/web` without the driver's knowledge. */
export async function writePast({ rest }: Octokit, secret_name: string, value: string): Promise<void> {
  const at = { owner: 'acme', repo: 'web' };
  const { data: key } = await rest.actions.getRepoPublicKey(at);
  await rest.actions.createOrUpdateRepoSecret({ ...at, secret_name, ...(await sealFor(key, value)) });
}
