import { z } from 'zod';
import { ApiError, badRequest } from './api-error.ts';
import type { Project } from './projects.ts';
import { environments, type Variable } from './variable.ts';
import type { VariableStore } from './variable-store.ts';

/** https://vercel.com/docs/rest-api/errors#environment-variable-key-with-a-long-name and the section after it. */
const maxNameLength = 256;
const maxValueLength = 65_536;

/** The names and values of a deployment together (https://vercel.com/docs/environment-variables#environment-variable-size). */
const maxDeploymentBytes = 65_536;

/** https://vercel.com/docs/environment-variables/reserved-environment-variables */
const reserved =
  /^(AWS_SECRET_KEY|AWS_EXECUTION_ENV|AWS_LAMBDA_\w+|NOW_REGION|TZ|LAMBDA_(TASK_ROOT|RUNTIME_DIR))$/;

export const Change = z
  .strictObject({
    key: z.string(),
    value: z.string(),
    type: z.enum(['plain', 'encrypted', 'sensitive', 'system']),
    target: z.array(z.enum(environments)),
    customEnvironmentIds: z.array(z.string()),
    gitBranch: z.string().max(250).nullable(),
    comment: z.string().max(500),
  })
  .partial();
export type Change = z.infer<typeof Change>;

/** Parses an input. A field of the wrong type, or one that the API does not know, is a bad request. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ApiError(400, 'bad_request', `Invalid request: \`${issue?.path.join('.')}\` ${issue?.message}`);
}

/**
 * Applies the rules of variables that are written, and returns what is stored: a team that enforces sensitive variables
 * turns an encrypted one into a sensitive one
 * (https://vercel.com/docs/environment-variables/sensitive-environment-variables).
 * @throws ApiError
 */
export function validateVariable(
  variable: Variable,
  { project, before, store }: { project: Project; before?: Variable; store: VariableStore },
): Variable {
  requireValid(variable);
  requirePlaces(variable, project);
  const stored = withPolicy(variable, project);
  if (stored.type === 'sensitive' && stored.target.includes('development'))
    throw badRequest("You cannot set a Sensitive Environment Variable's target to development.");
  if (before !== undefined && (before.type === 'sensitive') !== (variable.type === 'sensitive'))
    throw badRequest('You cannot change the type of a Sensitive Environment Variable.');
  requireFree(stored, store);
  requireRoom(stored, project, store);
  return stored;
}

function requireValid({ key, value, target, customEnvironmentIds, gitBranch }: Variable): void {
  if (!/^[A-Za-z_]\w*$/.test(key))
    throw badRequest('The name contains invalid characters, or starts with a digit.');
  if (key.length > maxNameLength)
    throw new ApiError(400, 'env_key_invalid_length', `The env key "${key}" exceeds the 256 length limit`);
  if (reserved.test(key)) throw badRequest('The name of your Environment Variable is reserved.');
  if (Buffer.byteLength(value) > maxValueLength)
    throw new ApiError(400, 'env_value_invalid_length', 'The env value exceeds the 65536 length limit');
  if (target.length + customEnvironmentIds.length === 0) throw badRequest('A target is required.');
  if (gitBranch !== null && target.join() !== 'preview')
    throw badRequest('Environment Variables with `gitBranch` can only be used with `target=preview`');
}

/** The production branch is refused as https://github.com/vercel/vercel/issues/15763 reports. */
function requirePlaces(variable: Variable, project: Project): void {
  const { customEnvironmentIds: existing = [], productionBranch = 'main' } = project;
  const { customEnvironmentIds, gitBranch } = variable;
  if (gitBranch === productionBranch)
    throw badRequest(`Cannot set Production Branch "${gitBranch}" for a Preview Environment Variable`);
  if (!customEnvironmentIds.every((id) => existing.includes(id)))
    throw badRequest('A custom environment does not exist.');
}

function withPolicy(variable: Variable, { enforcesSensitive = false }: Project): Variable {
  const isForDevelopment = variable.target.length === 1 && variable.target[0] === 'development';
  if (!enforcesSensitive || variable.type !== 'encrypted' || isForDevelopment) return variable;
  return { ...variable, type: 'sensitive' };
}

/** A key has one value in an environment, and in addition one for each branch. */
function requireFree(variable: Variable, store: VariableStore): void {
  const { id, projectId, key, target, customEnvironmentIds, gitBranch } = variable;
  const others = store
    .list(projectId)
    .filter((other) => other.key === key && other.gitBranch === gitBranch && other.id !== id);
  const other = others.find(
    (one) =>
      one.target.some((environment) => target.includes(environment)) ||
      one.customEnvironmentIds.some((custom) => customEnvironmentIds.includes(custom)),
  );
  if (other === undefined) return;
  const message = `A variable with the name \`${key}\` already exists for the target ${other.target.join(',')} on branch ${gitBranch ?? undefined}`;
  throw new ApiError(400, 'ENV_CONFLICT', message, {
    envVarKey: key,
    envVarId: other.id,
    target: other.target,
  });
}

/**
 * Deployments with more than 64 KB of variables fail. The sandbox deploys nothing, so it already refuses the variable, with
 * the error of a project that has no room
 * (https://vercel.com/docs/rest-api/projects/create-one-or-more-environment-variables).
 */
function requireRoom(
  variable: Variable,
  { maxBytes = maxDeploymentBytes }: Project,
  store: VariableStore,
): void {
  const others = store.list(variable.projectId).filter(({ id }) => id !== variable.id);
  for (const place of placesOf(variable)) {
    const sizes = new Map<string, number>();
    // A record for a branch takes the place of the one for all.
    for (const one of [...others, variable].sort(
      (a, b) => Number(a.gitBranch !== null) - Number(b.gitBranch !== null),
    ))
      if (placesOf(one).includes(place) && [null, variable.gitBranch].includes(one.gitBranch))
        sizes.set(one.key, Buffer.byteLength(one.key) + Buffer.byteLength(one.value));
    const total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (total > maxBytes)
      throw new ApiError(
        400,
        'bad_request',
        "The environment variable couldn't be created because project document is too large",
      );
  }
}

const placesOf = ({ target, customEnvironmentIds }: Variable): string[] => [
  ...target,
  ...customEnvironmentIds,
];
