import { type Sandbox, type StoredSecret, startSandbox, type WebhostOptions } from '@secrets/sandbox';
import { seal } from '@secrets/seal';
import type {
  ConnectedDestination,
  DestinationSettings,
  DriverContext,
  EgressGuard,
  ScopeMemory,
} from '@secrets/sync-worker';
import { type HarnessOptions, type LoggingHarness, simulatedStores } from '@secrets/sync-worker/testing';
import { webhostProjectDriver } from '../src/driver.ts';

export const destinationId = '5b0a6c3e-0000-4000-8000-000000000001';

const refusals = {
  forbidden: { status: 403, code: 'forbidden' },
  unauthenticated: { status: 401, code: 'unauthorized' },
  scopeGone: { status: 404, code: 'not_found' },
};

/** Record that another client of the project sends. */
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
export interface WebhostHarness extends LoggingHarness {
  sandbox: Sandbox;
  connectWith(
    over: Partial<DestinationSettings>,
    options?: {
      egress?: EgressGuard;
      endpointUrl?: string | undefined;
      scope?: ScopeMemory;
      remembered?: DriverContext['remembered'];
    },
  ): Promise<ConnectedDestination>;
  /** Calls the API as another client of the project; returns the response's body. */
  stranger(method: string, path: string, content?: object): Promise<Record<string, unknown>>;
  /** Creates a record as another client; returns its ID. */
  plant(record: ForeignRecord): Promise<string>;
  /** The records of a name. */
  held(name: string): StoredSecret[];
  /** Their types, environments and values, sorted. */
  records(name: string): string[];
}

interface ProjectOptions extends Pick<HarnessOptions, 'canary'> {
  /** The name of the project that the destination is for. */
  project?: string;
}

export async function startHarness(
  webhost: WebhostOptions = {},
  { canary = 'canary', project: projectName }: ProjectOptions = {},
): Promise<WebhostHarness> {
  const sandbox = await startSandbox({ webhost });
  const { projects } = sandbox.webhost;
  const project = projects.find(({ name }) => name === projectName) ?? projects[0]!;
  const { connectDriver, ...shared } = simulatedStores({
    stores: [sandbox.webhost],
    reads: /^(get|filter)/,
    refusals,
    canary,
    destination: destinationOf(sandbox, project),
  });
  const connectWith: WebhostHarness['connectWith'] = (over, options = {}) => {
    const { endpointUrl, ...context } = { endpointUrl: sandbox.webhostUrl, ...options };
    return connectDriver(webhostProjectDriver({ endpointUrl }), over, context);
  };
  const stranger = strangerOf(sandbox, project);
  const plantForeign = async (key: string, value: string) =>
    void (await stranger('POST', '', { key, value, type: 'encrypted', target: ['production'] }));
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
    plantForeign,
    // Short, because the names of all variables count towards the size of a deployment.
    freshName() {
      names += 1;
      return `V${names}`;
    },
    ...shared,
    ...viewOf(sandbox),
    async changeOutside(change, name) {
      const [record] = sandbox.webhost.secrets().filter((secret) => secret.name === name);
      const content = changesOf(name)[change];
      await stranger(content === undefined ? 'DELETE' : 'PATCH', `/${record!.tags.id}`, content);
      if (change === 'recreated') await plantForeign(name, 'theirs');
    },
    stop: () => sandbox.stop(),
  };
}

/** The content of a PATCH; a change that is not among them begins with a deletion. */
const changesOf = (name: string): Record<string, object> => ({
  value: { value: 'theirs' },
  branch: { target: ['preview'], gitBranch: 'feature' },
  environments: { target: ['preview'] },
  name: { key: `${name}_OLD` },
  comment: { comment: '' },
});

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

const destinationOf = ({ credentials }: Sandbox, { id, teamId = '' }: Project) => ({
  id: destinationId,
  settings: { project_id: id, team_id: teamId, deployment_environments: ['preview', 'production'] },
  credentials: seal({ access_token: credentials.webhost.accessToken }),
});

/** Returns functions that read the state of the sandbox. */
function viewOf({ webhost }: Sandbox) {
  const held = (name: string) => webhost.secrets().filter((secret) => secret.name === name);
  return {
    held,
    records: (name: string) =>
      held(name)
        .map(({ tags, value }) => `${tags.type} ${tags.target?.split(',').sort().join()}: ${value}`)
        .sort(),
    async external(name: string) {
      const [secret] = held(name);
      if (secret === undefined) return undefined;
      const { target = '', gitBranch: branch = '', comment = '' } = secret.tags;
      const tags = { target: target.split(',').sort().join(), branch, comment };
      return { value: secret.value ?? '', tags, writes: secret.version_count };
    },
  };
}
