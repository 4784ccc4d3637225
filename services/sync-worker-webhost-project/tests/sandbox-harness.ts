import {
  type FaultSpec,
  type Sandbox,
  type StoredSecret,
  startSandbox,
  type WebhostOptions,
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
import { webhostProjectDriver } from '../src/driver.ts';

export const destinationId = '5b0a6c3e-0000-4000-8000-000000000001';

const faults = (message: string): Record<FaultScenario, FaultSpec> => ({
  throttled: { effect: 'throttle', retryAfterSeconds: 7 },
  unavailable: { effect: 'server-error' },
  forbidden: { effect: 'error', status: 403, code: 'forbidden', message },
  unauthenticated: { effect: 'error', status: 401, code: 'unauthorized', message },
  garbage: { effect: 'garbage' },
  huge: { effect: 'huge', bytes: 4 * 1024 * 1024 },
  redirect: { effect: 'redirect' },
  reset: { effect: 'reset' },
  silence: { effect: 'silence' },
  diesAfterActing: { effect: 'act-then-die', times: 1 },
});

/** What another client of the project sends in a record. */
interface ForeignRecord {
  key: string;
  value?: string;
  target?: string[];
  type?: string;
  gitBranch?: string;
  comment?: string;
  customEnvironmentIds?: string[];
}

/** The driver with the simulated platform. */
export interface WebhostHarness extends DriverHarness {
  sandbox: Sandbox;
  connectWith(
    over: Partial<DestinationSettings>,
    options?: { egress?: EgressGuard; endpointUrl?: string | undefined },
  ): Promise<ConnectedDestination>;
  /** Calls the API as another client of the project; returns the response's body. */
  stranger(method: string, path: string, content?: object): Promise<Record<string, unknown>>;
  /** Creates a record as another client; returns its ID. */
  plant(record: ForeignRecord): Promise<string>;
  /** The records of a name. */
  held(name: string): StoredSecret[];
  /** Their types, environments and values, sorted. */
  records(name: string): string[];
  /** Returns the operations called since the last call of this function. */
  calls(): string[];
}

interface HarnessOptions {
  /** Part of the error messages of the sandbox. */
  canary?: string;
  /** The name of the project that the destination is for. */
  project?: string;
}

export async function startHarness(
  webhost: WebhostOptions = {},
  { canary = 'canary', project: projectName }: HarnessOptions = {},
): Promise<WebhostHarness> {
  const sandbox = await startSandbox({ webhost });
  const { projects } = sandbox.webhost;
  const project = projects.find(({ name }) => name === projectName) ?? projects[0]!;
  const { connectWith, lines } = driverOf(sandbox, project);
  const stranger = strangerOf(sandbox, project);
  let names = 0;
  return {
    sandbox,
    connectWith,
    connect: (over = {}) => connectWith(over),
    stranger,
    async plant({ value = 'theirs', type = 'encrypted', target = ['production', 'preview'], ...record }) {
      const { created } = await stranger('POST', '', { ...record, value, type, target });
      return (created as { id: string }).id;
    },
    async plantForeign(key, value) {
      await stranger('POST', '', { key, value, type: 'encrypted', target: ['production'] });
    },
    // Short, because the names of all variables count towards the size of a deployment.
    freshName() {
      names += 1;
      return `V${names}`;
    },
    ...viewOf(sandbox),
    inject: (scenario) => void sandbox.webhost.faults.add(faults(canary)[scenario]),
    clear: () => sandbox.webhost.faults.clear(),
    outputs: () => JSON.stringify(sandbox.webhost.calls()) + lines.join(''),
    stop: () => sandbox.stop(),
  };
}

type Project = Sandbox['webhost']['projects'][number];

function strangerOf(
  { webhostUrl, credentials }: Sandbox,
  { id, teamId }: Project,
): WebhostHarness['stranger'] {
  return async (method, path, content) => {
    const query = teamId === undefined ? '' : `?teamId=${teamId}`;
    const response = await fetch(`${webhostUrl}/v9/projects/${id}/env${path}${query}`, {
      method,
      headers: {
        authorization: `Bearer ${credentials.webhost.accessToken}`,
        'content-type': 'application/json',
      },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
    });
    if (!response.ok) throw new Error(`the sandbox refused the stranger: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
}

/** Connects the driver to the sandbox, and collects what it logs. */
function driverOf(sandbox: Sandbox, project: Project) {
  const lines: string[] = [];
  const log = createLogger({
    service: 'test',
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const connectWith: WebhostHarness['connectWith'] = (over, options = {}) => {
    const { egress = createEgressGuard({}), endpointUrl = sandbox.webhostUrl } = options;
    const isPublic = 'endpointUrl' in options && options.endpointUrl === undefined;
    return webhostProjectDriver(isPublic ? {} : { endpointUrl }).connect(
      {
        id: destinationId,
        type: 'webhost-project',
        name: 'main',
        namespacePath: 'root',
        credentials: seal({ access_token: sandbox.credentials.webhost.accessToken }),
        ...over,
        settings: {
          project_id: project.id,
          team_id: project.teamId ?? '',
          deployment_environments: ['preview', 'production'],
          ...over.settings,
        },
      },
      { log, egress, prefix: 'secrets', identityToken: async () => 'none' },
    );
  };
  return { connectWith, lines };
}

/** What the tests see of the sandbox. */
function viewOf({ webhost }: Sandbox) {
  let seen = 0;
  const held = (name: string) => webhost.secrets().filter((secret) => secret.name === name);
  return {
    held,
    records: (name: string) =>
      held(name)
        .map(({ tags, value }) => `${tags.type} ${tags.target?.split(',').sort().join()}: ${value}`)
        .sort(),
    async external(name: string) {
      const [secret] = held(name);
      return secret && { value: secret.value ?? '', tags: {}, writes: secret.version_count };
    },
    calls() {
      const operations = webhost.calls().map(({ operation }) => operation);
      const fresh = operations.slice(seen);
      seen = operations.length;
      return fresh;
    },
    callCount: () => webhost.calls().length,
  };
}
