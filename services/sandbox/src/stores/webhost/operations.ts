import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { type HttpResponse, jsonResponse } from '../../simulation/http-response.ts';
import { ApiError, forbidden, notFound } from './api-error.ts';
import type { Project } from './projects.ts';
import { type Variable, wireVariable } from './variable.ts';
import { Change, parseInput, validateVariable } from './variable-rules.ts';
import type { VariableStore } from './variable-store.ts';

/** One request, with the project that it is about. */
interface OperationInput {
  project: Project;
  store: VariableStore;
  /** The ID of the variable in the path. */
  id: string;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
  pageSize: number;
}

type Operation = (input: OperationInput) => HttpResponse;

const Creation = Change.required({ key: true, value: true, type: true });
const Page = z.object({
  until: z.coerce.number().optional(),
  decrypt: z.enum(['true', 'false']).optional(),
});

/** The operations by their ID in the provider's API description. */
export const operations = {
  getProject: ({ project: { id, name, teamId } }) =>
    jsonResponse(200, { id, name, accountId: teamId ?? 'usr_sandbox' }),
  filterProjectEnvs: listVariables,
  createProjectEnv: createVariables,
  getProjectEnv: (input) => jsonResponse(200, wireVariable(existing(input), { decrypt: true })),
  editProjectEnv: editVariable,
  removeProjectEnv: removeVariable,
} satisfies Record<string, Operation>;

/** Returns the variables, the newest first. A page ends with the time that the next one begins at. */
function listVariables({ project, store, query, pageSize }: OperationInput): HttpResponse {
  const { until = Number.POSITIVE_INFINITY, decrypt } = parseInput(Page, query);
  const all = store.list(project.id);
  const visible = all.filter(({ target }) => !(project.hidesProduction && target.includes('production')));
  const left = visible.filter(({ createdAt }) => createdAt < until);
  const envs = left
    .slice(0, pageSize)
    .map((variable) => ({ ...wireVariable(variable, { decrypt: decrypt === 'true' }), securityIssues: [] }));
  const last = left[pageSize - 1];
  const next = left.length > pageSize && last !== undefined ? last.createdAt : null;
  const prev = left[0]?.createdAt ?? null;
  return jsonResponse(200, {
    envs,
    pagination: { count: envs.length, next, prev },
    ...(project.hidesProduction ? { hiddenProductionEnvCount: all.length - visible.length } : {}),
  });
}

/** Creates one variable, or a list of them, of which some may fail. */
function createVariables(input: OperationInput): HttpResponse {
  const isUpsert = input.query.upsert === 'true';
  if (!Array.isArray(input.body)) {
    const created = create(input, input.body, isUpsert);
    return jsonResponse(201, { created: wireVariable(created), failed: [] });
  }
  const created: object[] = [];
  const failed: object[] = [];
  for (const item of input.body) {
    try {
      created.push(wireVariable(create(input, item, isUpsert)));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failed.push({ error: error.content });
    }
  }
  return jsonResponse(201, { created, failed });
}

function create({ project, store }: OperationInput, item: unknown, isUpsert: boolean): Variable {
  const given = parseInput(Creation, item);
  const { target = [], customEnvironmentIds = [], gitBranch = null, comment = '' } = given;
  const same = store
    .list(project.id)
    .find(
      (other) =>
        isUpsert &&
        other.key === given.key &&
        other.gitBranch === gitBranch &&
        [...other.target].sort().join() === [...target].sort().join(),
    );
  if (same !== undefined) return write({ project, store }, same, given);
  const now = store.nextTime();
  const variable: Variable = {
    ...given,
    id: randomBytes(12).toString('hex'),
    projectId: project.id,
    target,
    customEnvironmentIds,
    gitBranch,
    comment,
    configurationId: null,
    createdAt: now,
    updatedAt: now,
    writes: 1,
  };
  const stored = validateVariable(variable, { project, store });
  store.save(stored);
  return stored;
}

function editVariable({ body, ...input }: OperationInput): HttpResponse {
  const before = editable(input);
  return jsonResponse(200, wireVariable(write(input, before, parseInput(Change, body))));
}

function write(
  { project, store }: Pick<OperationInput, 'project' | 'store'>,
  before: Variable,
  change: Change,
): Variable {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const after: Variable = {
    ...before,
    ...given,
    updatedAt: store.nextTime(),
    writes: before.writes + (change.value === undefined ? 0 : 1),
  };
  const stored = validateVariable(after, { project, before, store });
  store.save(stored);
  return stored;
}

function removeVariable(input: OperationInput): HttpResponse {
  const variable = editable(input);
  input.store.remove(variable);
  return jsonResponse(200, wireVariable(variable));
}

function existing({ project, store, id }: Pick<OperationInput, 'project' | 'store' | 'id'>): Variable {
  const variable = store.get(project.id, id);
  if (variable === undefined) throw notFound('Environment Variable');
  return variable;
}

function editable(input: Pick<OperationInput, 'project' | 'store' | 'id'>): Variable {
  const variable = existing(input);
  if (variable.configurationId !== null || variable.type === 'system')
    throw forbidden('The Environment Variable is managed by an integration.');
  return variable;
}
