import { controlCharacters, type Json, stringList } from '@secrets/domain';
import { z } from 'zod';
import { describeType } from '../description.ts';
import { commonFields, text, textLike } from '../fields/common-fields.ts';
import { connection, type SettingsOf, secret } from '../fields/field.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';

const maxNameLength = 255;

const account = (what: string) =>
  textLike(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, `must be the name of ${what}: letters, digits, - and _`);

/** In a URL, the names `.` and `..` would be steps to another path. */
const isPathStep = (name: string): boolean => name === '.' || name === '..';

/** Neither `.` nor `..`. */
const repositoryForm = /^(?:\.{0,2}[A-Za-z0-9_-][A-Za-z0-9._-]{0,97}|\.{3}[A-Za-z0-9._-]{0,97})$/;

const repositories = stringList
  .refine(
    (given) => given.length <= 100 && given.every((name) => repositoryForm.test(name)),
    "must be a list of at most 100 names of the organization's repositories, without its name",
  )
  .meta({ type: 'array', maxItems: 100, items: { type: 'string', pattern: repositoryForm.source } });

const installationId = z
  .union([z.int(), z.string()], { error: 'must be the number of an installation' })
  .transform((given) => String(given).trim())
  .refine((given) => /^([1-9]\d{0,14})?$/.test(given), 'must be the number of an installation')
  .meta({ type: 'integer', minimum: 1, maximum: 999_999_999_999_999 });

/**
 * The origin of a self-hosted server, in its only spelling, so that two of them can be compared; empty for the public
 * service.
 */
export const enterpriseUrl = text(2048)
  .refine(
    (given) => given === '' || isServer(given),
    'must be the https URL of a server, such as https://git.example.com, without a path',
  )
  .transform((given) => (given === '' ? '' : new URL(given).origin))
  .meta({ pattern: '^(?:https://[a-z][a-z0-9]{0,30}(?:\\.[a-z][a-z0-9]{0,30}){1,3})?$' });

/** Where the external secrets are: the marks of the write-only store are about one place. */
const place = { default: '', immutable: true } as const;

const fields = {
  secrets_location: connection(
    z.enum(['repository', 'environment', 'organization'], {
      error: 'must be repository, environment or organization',
    }),
    {
      ...place,
      default: 'repository',
      shownUnset: '',
      help: 'Whether the external secrets are those of a repository or of an organization.',
    },
  ),
  secrets_app: connection(
    z.enum(['actions', 'dependabot', 'codespaces'], { error: 'must be actions, dependabot or codespaces' }),
    {
      ...place,
      default: 'actions',
      shownUnset: '',
      help: 'What can use the external secrets: Actions, Dependabot or Codespaces. Each has secrets of its own.',
    },
  ),
  access_token: secret(
    text(1024)
      .refine((given) => !/\s/.test(given), 'must not contain blanks')
      .meta({ pattern: '^(?:[!-?A-~][!-~]*)?$' }),
    { help: 'Token that may write secrets. Required, unless an application is used.' },
  ),
  app_name: connection(text(255), {
    default: '',
    credential: true,
    help: 'Code-host application of this namespace, instead of an access token.',
  }),
  installation_id: connection(installationId, {
    default: '',
    shownUnset: undefined,
    credential: true,
    integer: true,
    help: 'Number of the installation of the application.',
  }),
  repository_owner: connection(account('an account'), {
    ...place,
    help: 'Account that owns the repository. Required for a repository.',
  }),
  repository_name: connection(
    textLike(repositoryForm, 'must be the name of a repository, without its owner: letters, digits and ._-'),
    { ...place, help: 'Name of the repository, without its owner. Required for a repository.' },
  ),
  environment_name: connection(
    text(255)
      .refine((given) => !isPathStep(given), 'must be the name of an environment')
      .meta({ pattern: `^(?:[^.${controlCharacters}][^${controlCharacters}]*)?$` }),
    {
      ...place,
      help: 'Environment of the repository. Without it, the secrets are those of the whole repository.',
    },
  ),
  organization_name: connection(account('an organization'), {
    ...place,
    help: 'Name of the organization. Required for an organization.',
  }),
  organization_visibility: connection(
    z.enum(['', 'all', 'private', 'selected'], { error: 'must be all, private or selected' }),
    {
      default: '',
      pushed: true,
      help: 'Which repositories see the secrets of the organization. Without it, the private and internal ones.',
    },
  ),
  selected_repository_names: connection(repositories, {
    default: [],
    pushed: true,
    help: 'Repositories that see the secrets, without the name of the organization. Only for the visibility selected.',
  }),
  enterprise_url: connection(enterpriseUrl, {
    ...place,
    help: 'URL of a self-hosted server, such as https://git.example.com. Without it, the public service.',
  }),
  ...commonFields('secret-key'),
};

/** The stored settings of a destination. */
export type CodehostSettings = SettingsOf<typeof fields>;

/** codehost: action secrets of a repository, an environment or an organization (docs/destinations/codehost.md). */
export const codehost = describeType({
  type: 'codehost',
  fields,
  appField: 'app_name',
  derive: withLocation,
  supportsTags: false,
  tagRule: { maxCustomTags: 0, check: () => undefined },
  // https://docs.github.com/en/actions/reference/security/secrets#limits-for-secrets
  maxValueBytes: 48 * 1024,
  takesEmptyValue: true,
  account: ({ enterprise_url: server, installation_id: installation }, { access_token: token }) =>
    installation ? [server, 'installation', installation] : [server, 'token', token],
  // https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
  budget: { perSecond: 1, burst: 1, maxOutstanding: 1 },
  looksByList: true,
  nameRule: {
    defaultTemplate: (prefix, granularity) =>
      `${prefix.toUpperCase()}_{{ .MountAccessor }}_{{ .SecretPath }}${granularity === 'secret-key' ? '_{{ .SecretKey }}' : ''}`,
    normalise: (name) => {
      const permitted = name.replace(/[^A-Za-z0-9_]/gu, '_').toUpperCase();
      const begun = /^(\d|GITHUB_)/.test(permitted) ? `_${permitted}` : permitted;
      return truncateSha256(begun, maxNameLength).toUpperCase();
    },
    check: checkName,
    // Stored in upper case, whatever the case of the request.
    collisionKey: (name) => name.toUpperCase(),
  },
  check: (settings, credentials) => [
    ...credentialProblems(settings, credentials),
    ...(settings.secrets_location === 'organization'
      ? organizationProblems(settings)
      : repositoryProblems(settings)),
  ],
});

/** An environment is one of a repository: two names of a place must not look like two places. */
function withLocation(settings: CodehostSettings): CodehostSettings {
  const isEnvironment = settings.secrets_location === 'environment' && isSet(settings.environment_name);
  return isEnvironment ? { ...settings, secrets_location: 'repository' } : { ...settings };
}

function isServer(given: string): boolean {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  return url?.protocol === 'https:' && `${url.origin}/` === url.href && !/[\\@?#]/.test(given);
}

function checkName(name: string): string | undefined {
  if (name.length < 1 || name.length > maxNameLength)
    return `must have 1 to ${maxNameLength} characters, and has ${name.length}`;
  if (!/^[A-Za-z0-9_]+$/.test(name)) return 'may only contain letters, digits and _';
  if (/^\d/.test(name)) return 'must not begin with a digit';
  return /^GITHUB_/i.test(name) ? 'must not begin with GITHUB_' : undefined;
}

const isSet = (value: Json | undefined): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '';

/** Returns a sentence for each field that is set although the others do not permit it. */
const unexpected = (
  settings: CodehostSettings,
  names: readonly (keyof CodehostSettings)[],
  condition: string,
): string[] => names.filter((name) => isSet(settings[name])).map((name) => `${name}: requires ${condition}`);

const missing = (
  settings: CodehostSettings,
  names: readonly (keyof CodehostSettings)[],
  condition: string,
): string[] =>
  names.filter((name) => !isSet(settings[name])).map((name) => `${name}: is required ${condition}`);

function credentialProblems(settings: CodehostSettings, credentials: ReadonlySet<string>): string[] {
  const hasToken = credentials.has('access_token');
  const app = (['app_name', 'installation_id'] as const).filter((name) => isSet(settings[name]));
  if (hasToken && app.length > 0)
    return app.map((name) => `${name}: cannot be combined with access_token; remove one of them`);
  if (app.length === 0)
    return hasToken ? [] : ['access_token: is required, unless app_name and installation_id are set'];
  if (app.length === 2) return [];
  return [
    isSet(settings.app_name)
      ? 'installation_id: is required with app_name'
      : 'app_name: is required with installation_id',
  ];
}

const repositoryProblems = (settings: CodehostSettings): string[] => [
  ...(settings.secrets_location === 'environment'
    ? missing(settings, ['environment_name'], 'with secrets_location environment')
    : []),
  ...(settings.secrets_app === 'actions'
    ? []
    : unexpected(settings, ['environment_name'], 'secrets_app actions')),
  ...missing(settings, ['repository_owner', 'repository_name'], 'with secrets_location repository'),
  ...unexpected(
    settings,
    ['organization_name', 'organization_visibility', 'selected_repository_names'],
    'secrets_location organization',
  ),
];

function organizationProblems(settings: CodehostSettings): string[] {
  const isSelected = settings.organization_visibility === 'selected';
  return [
    ...missing(settings, ['organization_name'], 'with secrets_location organization'),
    ...unexpected(
      settings,
      ['repository_owner', 'repository_name', 'environment_name'],
      'secrets_location repository',
    ),
    ...(isSelected
      ? missing(settings, ['selected_repository_names'], 'with organization_visibility selected')
      : unexpected(settings, ['selected_repository_names'], 'organization_visibility selected')),
  ];
}
