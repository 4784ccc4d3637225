import { flag, stringList } from '@secrets/domain';
import { describeType } from '../description.ts';
import { commonFields, text, textLike } from '../fields/common-fields.ts';
import { connection, type SettingsOf, secret } from '../fields/field.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';

/** The provider states no limit; longer names are refused so that the largest value and its name fit into a deployment. */
const maxNameLength = 256;

/** The names and values of a deployment together (https://vercel.com/docs/environment-variables#environment-variable-size). */
const maxDeploymentBytes = 65_536;

/** https://vercel.com/docs/rest-api/environment/retrieve-custom-environments */
const customEnvironmentForm = /^env_[A-Za-z0-9_-]{1,100}$/;

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

const customEnvironments = stringList
  .refine(
    (given) => given.length <= 100 && given.every((id) => customEnvironmentForm.test(id)),
    'must be a list of at most 100 IDs of environments, such as env_1234567890',
  )
  .meta({ type: 'array', maxItems: 100, items: { type: 'string', pattern: customEnvironmentForm.source } })
  .transform((given) => [...new Set(given)].sort());

/** Neither `.` nor `..`, which would lead to another path. */
const segmentForm = /^\.{0,2}[A-Za-z0-9_-][A-Za-z0-9_.-]{0,125}$/;

const fields = {
  access_token: secret(
    textLike(/^[!-~]{1,1024}$/, 'must be at most 1024 printable ASCII characters').meta({
      pattern: '^(?:[!-?A-~][!-~]{0,1023})?$',
    }),
    { help: 'Token that may manage the environment variables of the project.' },
  ),
  project_id: connection(
    textLike(segmentForm, 'must be the ID of a project, such as prj_12HKQaOmR5t5Uy6vdcQsNIiZgHGB'),
    { default: '', immutable: true, help: 'ID of the project.' },
  ),
  team_id: connection(
    textLike(segmentForm, 'must be the ID of a team, such as team_1a2b3c4d5e6f7g8h9i0j1k2l'),
    { default: '', help: 'ID of the team that the project belongs to, if it belongs to one.' },
  ),
  deployment_environments: connection(environmentList, {
    default: [],
    pushed: true,
    help: 'Environments of the project that see the variables.',
  }),
  custom_environment_ids: connection(customEnvironments, {
    default: [],
    pushed: true,
    help: 'IDs of environments that the project defines itself, which see the variables too.',
  }),
  git_branch: connection(text(250), {
    default: '',
    pushed: true,
    help: 'Git branch whose previews see the variables. Without it, those of all branches.',
  }),
  sensitive: connection(flag, {
    default: false,
    pushed: true,
    help: 'Whether nobody can read the values at the provider, only deployments.',
  }),
  ...commonFields('secret-key'),
};

/**
 * webhost-project: environment variables of a project on a web-hosting platform (docs/destinations/webhost-project.md;
 * the provider's API reference and limits).
 */
export const webhostProject = describeType({
  type: 'webhost-project',
  fields,
  supportsTags: false,
  tagRule: { maxCustomTags: 0, check: () => 'cannot be set: variables have no tags' },
  maxValueBytes: maxDeploymentBytes - maxNameLength,
  takesEmptyValue: true,
  // The limits have the scope "owner", the team or the user: https://vercel.com/docs/limits#rate-limits. Per minute,
  // they allow 120 creations, 120 updates and 60 deletions; the budget does not distinguish them. A project rejects a
  // change during another one.
  account: ({ team_id }, { access_token }) =>
    team_id === '' ? ['user', access_token ?? ''] : ['team', team_id],
  budget: { perSecond: 1, burst: 20, maxOutstanding: 1 },
  looksByList: true,
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
});

function checkName(name: string): string | undefined {
  if (name.length < 1 || name.length > maxNameLength)
    return `must have 1 to ${maxNameLength} characters, and has ${name.length}`;
  if (!/^[A-Za-z_]\w*$/.test(name))
    return 'may only contain letters, digits and _, and must not begin with a digit';
  return reservedNames.has(name) ? 'is reserved by the provider' : undefined;
}

function whatIsMissing(settings: SettingsOf<typeof fields>, credentials: ReadonlySet<string>): string[] {
  const { project_id: projectId, deployment_environments: chosen, custom_environment_ids: custom } = settings;
  const problems = [
    !credentials.has('access_token') && 'access_token: is required',
    projectId === '' && 'project_id: is required',
    chosen.length + custom.length === 0 &&
      `deployment_environments: is required; it is a list of ${environments.join(', ')}`,
    // https://vercel.com/docs/rest-api/projects/create-one-or-more-environment-variables
    settings.git_branch !== '' &&
      (chosen.join() !== 'preview' || custom.length > 0) &&
      'git_branch: requires that deployment_environments is preview only, without custom_environment_ids',
    // https://vercel.com/docs/environment-variables/sensitive-environment-variables
    settings.sensitive &&
      chosen.includes('development') &&
      'sensitive: cannot be combined with development in deployment_environments, where the provider has no sensitive variables',
  ];
  return problems.filter((problem) => problem !== false);
}
