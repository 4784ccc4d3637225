import { randomUUID } from 'node:crypto';
import { Octokit } from '@octokit/rest';
import { type CodehostOptions, type Sandbox, type StoredSecret, startSandbox } from '@secrets/sandbox';
import { seal } from '@secrets/seal';
import type {
  ConnectedDestination,
  DestinationSettings,
  EgressGuard,
  ScopeMemory,
} from '@secrets/sync-worker';
import { type HarnessOptions, type LoggingHarness, simulatedStores } from '@secrets/sync-worker/testing';
import { codehostDriver } from '../src/driver.ts';
import { sealFor } from '../src/secret/scope-key.ts';

const refusals = {
  forbidden: { status: 403, code: 'Forbidden' },
  unauthenticated: { status: 401, code: 'BadCredentials' },
  scopeGone: { status: 404, code: 'NotFound' },
};

const readsOfPlace = [
  ...['getRepository', 'getRepositoryById', 'getEnvironment', 'getOrganization', 'getOrganizationById'],
];

/** A secret is written and deleted with an empty response (https://docs.github.com/en/rest/actions/secrets). */
const withBody = [...readsOfPlace, 'getRepoPublicKey', 'getRepoSecret', 'listRepoSecrets'];

/** The destination of most tests. */
export const web = { repository_owner: 'acme', repository_name: 'web' };

/** The driver with the simulated code host. */
export interface CodehostHarness extends LoggingHarness {
  sandbox: Sandbox;
  /** As `calls`, with the reads of the place, which `calls` leaves out. */
  allCalls(): string[];
  /** A client that does not belong to the driver. */
  stranger: Octokit;
  /** Returns the secret in the sandbox; `place` is how the sandbox shows its repository, environment or organization. */
  held(name: string, place?: string): StoredSecret | undefined;
  connectWith(over: Partial<DestinationSettings>, egress: EgressGuard): Promise<ConnectedDestination>;
  /** Connects with what is remembered of the place. */
  connectAs(over: Partial<DestinationSettings>, scope: ScopeMemory): Promise<ConnectedDestination>;
}

export async function startHarness(
  codehost: CodehostOptions = {},
  { clock = Date.now, canary = 'canary' }: HarnessOptions = {},
): Promise<CodehostHarness> {
  let ahead = 0;
  const sandbox = await startSandbox({ codehost, clock: () => clock() + ahead });
  const auth = sandbox.credentials.codehost.accessToken;
  const stranger = new Octokit({ baseUrl: sandbox.codehostUrl, auth });
  const { connectDriver, ...shared } = simulatedStores({
    stores: [sandbox.codehost],
    reads: /^(get|list)/,
    refusals,
    withBody,
    canary,
    destination: { settings: web, credentials: seal({ access_token: auth }) },
  });
  const driver = codehostDriver({ endpointUrl: sandbox.codehostUrl });
  return {
    sandbox,
    stranger,
    ...shared,
    allCalls: shared.calls,
    calls: () => shared.calls().filter((operation) => !readsOfPlace.includes(operation)),
    ...viewOf(sandbox),
    connectWith: (over, egress) => connectDriver(driver, over, { egress }),
    connectAs: (over, scope) => connectDriver(driver, over, { scope }),
    connect: (over) => connectDriver(driver, over),
    freshName: () => `SECRETS_KV_1_${randomUUID().replaceAll('-', '_').toUpperCase()}`,
    plantForeign: (name, value) => writePast(stranger, name, value),
    async changeOutside(change, secret_name) {
      ahead += 10_000; // a change within the seconds after the put cannot be seen
      if (change !== 'value')
        await stranger.rest.actions.deleteRepoSecret({ owner: 'acme', repo: 'web', secret_name });
      if (change !== 'deleted') await writePast(stranger, secret_name, 'theirs');
    },
    stop: () => sandbox.stop(),
  };
}

/** Returns functions that read the state of the sandbox. */
function viewOf(sandbox: Sandbox): Pick<CodehostHarness, 'held' | 'external'> {
  const held = (name: string, place = 'acme/web') =>
    sandbox.codehost.secrets().find((secret) => secret.name === name && secret.region === place);
  return {
    held,
    async external(name) {
      const secret = held(name);
      return secret && { value: secret.value, tags: {}, writes: secret.version_count };
    },
  };
}

/** Writes a secret of the repository `acme/web` without the driver's knowledge. */
export async function writePast({ rest }: Octokit, secret_name: string, value: string): Promise<void> {
  const at = { owner: 'acme', repo: 'web' };
  const { data: key } = await rest.actions.getRepoPublicKey(at);
  await rest.actions.createOrUpdateRepoSecret({ ...at, secret_name, ...(await sealFor(key, value)) });
}
