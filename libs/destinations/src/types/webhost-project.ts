import { type Json, stringList } from '@secrets/domain';
import { z } from 'zod';
import type { DestinationDescription } from '../description.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';
import { commonDefaults, commonFields, textLike } from './common-fields.ts';
import { withHelp } from './field-help.ts';

/** The provider states no limit; longer names are refused so that the largest value and its name fit into a deployment. */
const maxNameLength = 256;

/** The names and values of a deployment together (https://vercel.com/docs/environment-variables#environment-variable-size). */
const maxDeploymentBytes = 65_536;

const environments = ['development', 'preview', 'production'];

/** https://vercel.com/docs/environment-variables/reserved-environment-variables */
const reservedNames = new Set([
  'AWS_SECRET_KEY',
  'AWS_EXECUTION_ENV',
  'AWS_LAMBDA_LOG_GROUP_NAME',
  'AWS_LAMBDA_LOG_STREAM_NAME',
  'AWS_LAMBDA_FUNCTION_NAME',
  'AWS_LAMBDA_FUNCTION_MEMORY_SIZE',
  'AWS_LAMBDA_FUNCTION_VERSION',
  'NOW_REGION',
  'TZ',
  'LAMBDA_TASK_ROOT',
  'LAMBDA_RUNTIME_DIR',
]);

const environmentList = stringList
  .refine(
    (given) => given.every((environment) => environments.includes(environment)),
    `must be a list of ${environments.join(', ')}`,
  )
  .meta({ type: 'array', items: { enum: environments } })
  .transform((given) => environments.filter((environment) => given.includes(environment)));

const fields = z.object({
  ...withHelp(
    {
      access_token: textLike(/^[!-~]{1,1024}$/, 'must be at most 1024 printable ASCII characters').meta({
        pattern: '^(?:[!-?A-~][!-~]{0,1023})?$',
      }),
      project_id: textLike(
        /^[A-Za-z0-9_.-]{1,128}$/,
        'must be the ID of a project, such as prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB',
      ),
      team_id: textLike(
        /^[A-Za-z0-9_.-]{1,128}$/,
        'must be the ID of a team, such as team_1a2b3c4d5e6f7g8h9i0j1k2l',
      ),
      deployment_environments: environmentList,
    },
    {
      access_token: 'Token that may manage the environment variables of the project.',
      project_id: 'ID of the project.',
      team_id: 'ID of the team that the project belongs to, if it belongs to one.',
      deployment_environments: 'Environments of the project that see the variables.',
    },
  ),
  ...commonFields,
});

/**
 * webhost-project: environment variables of a project on a web-hosting platform (docs/conventions.md#519-webhost-project; the provider's API
 * reference and limits).
 */
export const webhostProject: DestinationDescription = {
  type: 'webhost-project',
  fields,
  defaults: { project_id: '', team_id: '', deployment_environments: [], ...commonDefaults('secret-key') },
  secretFields: ['access_token'],
  connectionFields: ['access_token', 'project_id', 'team_id', 'deployment_environments'],
  immutableFields: ['project_id'],
  pushedFields: ['deployment_environments'],
  supportsTags: false,
  tagRule: { maxCustomTags: 0, check: () => 'cannot be set: variables have no tags' },
  maxValueBytes: maxDeploymentBytes - maxNameLength,
  takesEmptyValue: true,
  // The limits have the scope "owner", the team or the user: https://vercel.com/docs/limits#rate-limits. Per minute, they allow 120
  // creations, 120 updates and 60 deletions; the budget does not distinguish them. A project rejects a change during another one.
  account: ({ team_id }, { access_token }) =>
    team_id === '' ? ['user', access_token ?? ''] : ['team', team_id],
  budget: { perSecond: 1, burst: 20, maxOutstanding: 1 },
  nameRule: {
    defaultTemplate: (prefix, granularity) =>
      `${prefix.toUpperCase()}_{{ .MountAccessor | uppercase }}_{{ .SecretPath | uppercase }}${
        granularity === 'secret-key' ? '_{{ .SecretKey | uppercase }}' : ''
      }`,
    normalise: (name) =>
      truncateSha256(name.replace(/[^A-Za-z0-9_]/gu, '_').replace(/^(?=\d)/, '_'), maxNameLength),
    check: checkName,
    collisionKey: (name) => name,
  },
  check: whatIsMissing,
};

function checkName(name: string): string | undefined {
  if (name.length < 1 || name.length > maxNameLength)
    return `must have 1 to ${maxNameLength} characters, and has ${name.length}`;
  if (!/^[A-Za-z_]\w*$/.test(name))
    return 'may only contain letters, digits and _, and must not begin with a digit';
  return reservedNames.has(name) ? 'is reserved by the provider' : undefined;
}

function whatIsMissing(settings: Readonly<Record<string, Json>>, credentials: ReadonlySet<string>): string[] {
  const { project_id: projectId, deployment_environments: chosen } = settings;
  const problems = [
    !credentials.has('access_token') && 'access_token: is required',
    projectId === '' && 'project_id: is required',
    (chosen as string[]).length === 0 &&
      `deployment_environments: is required; it is a list of ${environments.join(', ')}`,
  ];
  return problems.filter((problem) => problem !== false);
}
