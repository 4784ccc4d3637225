import { randomBytes } from 'node:crypto';
import express, { type Request, type RequestHandler, type Response } from 'express';
import type { Lag } from '../../faults/fault-injector.ts';
import { observeCalls } from '../../simulation/observe-calls.ts';
import { serveCall } from '../../simulation/serve-call.ts';
import type { SimulationContext } from '../../simulation/simulation.ts';
import type { SimulatedStore } from '../simulated-store.ts';
import { errorsAt, forbidden, invalidToken } from './api-error.ts';
import { changeByHand } from './change-by-hand.ts';
import { operations } from './operations.ts';
import { findProject, idFrom, type Project } from './projects.ts';
import { storedSecret, type Variable } from './variable.ts';
import { type VariableRecord, VariableStore } from './variable-store.ts';

const NAME = 'webhost-project';

export interface WebhostOptions {
  /** The projects that exist. Default: one of the user, whose ID is in `credentials`, and two of teams; see `defaultProjects`. */
  projects?: Project[];
  /** How many variables a list returns at once. Default 100. */
  pageSize?: number;
}

export interface Webhost extends SimulatedStore {
  readonly credentials: Readonly<{ accessToken: string; projectId: string }>;
  readonly projects: readonly Project[];
  /** Adds a variable that this token cannot create, such as one that an integration owns. */
  plant(variable: Pick<Variable, 'key' | 'value'> & Partial<Variable>): Variable;
}

const customEnvironmentIds = ['env_staging', 'env_qa'];

/** A project of the user, one of a team, and one of a team that enforces sensitive variables. */
const defaultProjects = (seed: string): Project[] => [
  { id: idFrom('prj', `${seed} user`), name: 'sandbox', customEnvironmentIds },
  { id: idFrom('prj', `${seed} team`), name: 'sandbox-team', teamId: 'team_sandbox', customEnvironmentIds },
  {
    id: idFrom('prj', `${seed} strict`),
    name: 'sandbox-strict',
    teamId: 'team_strict',
    enforcesSensitive: true,
    customEnvironmentIds,
  },
];

/** Simulates the environment variables of a web-hosting platform's projects. */
export function simulateWebhost(
  { seed, now, persist }: SimulationContext,
  { projects = defaultProjects(seed), pageSize = 100 }: WebhostOptions = {},
): Webhost {
  const [first] = projects;
  if (!first) throw new RangeError('webhost needs a project');
  const accessToken = idFrom('sandbox', `webhost token ${seed}`);
  const store = new VariableStore(persist, now);
  const calls = observeCalls(NAME, now);
  const errors = errorsAt(now);
  const handle: Handler = (operation) => (request, response) => {
    const { params, query, body } = request;
    const { idOrName = '', id = '' } = params as Record<string, string>;
    const name = keyIn(body) ?? store.all().find((variable) => variable.id === id)?.key;
    const sent = [...Object.keys(query), ...Object.keys([body].flat()[0] ?? {})];
    const call = { operation, name, region: idOrName.slice(0, 128), sent };
    return serveCall({ ...calls.context, errors }, call, response, (lag) => {
      requireToken(request.headers.authorization, accessToken);
      const teamId = query.teamId === undefined ? undefined : String(query.teamId);
      const project = findProject(projects, { idOrName, teamId });
      const staleMs = lagOf(operation, lag);
      const view = staleMs === 0 ? store : store.asOf(now() - staleMs);
      return operations[operation]({ project, store: view, id, query, body, pageSize });
    });
  };
  return {
    ...calls.members,
    path: '/webhost',
    routes: webhostRoutes(handle),
    credentials: { accessToken, projectId: first.id },
    projects,
    secrets: () => store.all().map(storedSecret),
    changeByHand: (change) => changeByHand(store, change),
    plant: (given) => plant(store, first, given),
    reset() {
      calls.clear();
      store.clear();
    },
    replay: (record) => store.replay(record as VariableRecord),
    snapshot: () => store.snapshot(),
  };
}

type Handler = (
  operation: keyof typeof operations,
) => (request: Request, response: Response) => Promise<void>;

/** The provider documents no consistency of reads, so each may be behind. */
const lagOf = (operation: keyof typeof operations, { readMs, listMs }: Lag): number =>
  ({
    getProject: 0,
    filterProjectEnvs: listMs,
    getProjectEnv: readMs,
    createProjectEnv: 0,
    editProjectEnv: 0,
    removeProjectEnv: 0,
  })[operation];

/** The versions in the paths differ by operation and client, and do not matter here. */
function webhostRoutes(handle: Handler): RequestHandler {
  const routes = express.Router();
  const path = '/:version/projects/:idOrName/env';
  routes.get('/:version/projects/:idOrName', handle('getProject'));
  routes.use(express.json({ limit: '2mb' }));
  routes.get(path, handle('filterProjectEnvs'));
  routes.post(path, handle('createProjectEnv'));
  routes.get(`${path}/:id`, handle('getProjectEnv'));
  routes.patch(`${path}/:id`, handle('editProjectEnv'));
  routes.delete(`${path}/:id`, handle('removeProjectEnv'));
  return routes;
}

/** The name of the variable that a request is about; of the first one, if there are several. */
function keyIn(body: unknown): string | undefined {
  const [first] = [body].flat();
  const key = typeof first === 'object' && first !== null && 'key' in first ? first.key : undefined;
  return typeof key === 'string' ? key.slice(0, 512) : undefined;
}

function requireToken(authorization: string | undefined, accessToken: string): void {
  if (authorization === undefined)
    throw forbidden('The request is missing an authentication token', { missingToken: true });
  if (authorization !== `Bearer ${accessToken}`) throw invalidToken;
}

function plant(store: VariableStore, project: Project, given: Parameters<Webhost['plant']>[0]): Variable {
  const now = store.nextTime();
  const variable: Variable = {
    id: randomBytes(12).toString('hex'),
    projectId: project.id,
    type: 'encrypted',
    target: ['production', 'preview'],
    customEnvironmentIds: [],
    gitBranch: null,
    comment: '',
    configurationId: null,
    createdAt: now,
    updatedAt: now,
    writes: 1,
    ...given,
  };
  store.save(variable);
  return variable;
}
