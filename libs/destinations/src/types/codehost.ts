import { controlCharacters, type Json, stringList } from '@secrets/domain';
import { z } from 'zod';
import type { DestinationDescription } from '../description.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';
import { commonDefaults, commonFields, text, textLike } from './common-fields.ts';
import { withHelp } from './field-help.ts';

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

/** The origin of a self-hosted server, in its only spelling, so that two of them can be compared; empty for the public service. */
export const enterpriseUrl = text(2048)
  .refine(
    (given) => given === '' || isServer(given),
    'must be the https URL of a server, such as https://git.example.com, without a path',
  )
  .transform((given) => (given === '' ? '' : new URL(given).origin))
  .meta({ pattern: '^(?:https://[a-z][a-z0-9]{0,30}(?:\\.[a-z][a-z0-9]{0,30}){1,3})?$' });

const fields = z.object({
  ...withHelp(
    {
      secrets_location: z.enum(['repository', 'organization'], {
        error: 'must be repository or organization',
      }),
      access_token: text(1024)
        .refine((given) => !/\s/.test(given), 'must not contain blanks')
        .meta({ pattern: '^(?:[!-?A-~][!-~]*)?$' }),
      app_name: text(255),
      installation_id: installationId,
      repository_owner: account('an account'),
      repository_name: textLike(
        repositoryForm,
        'must be the name of a repository, without its owner: letters, digits and ._-',
      ),
      environment_name: text(255)
        .refine((given) => !isPathStep(given), 'must be the name of an environment')
        .meta({ pattern: `^(?:[^.${controlCharacters}][^${controlCharacters}]*)?$` }),
      organization_name: account('an organization'),
      organization_visibility: z.enum(['', 'all', 'private', 'selected'], {
        error: 'must be all, private or selected',
      }),
      selected_repository_names: repositories,
      enterprise_url: enterpriseUrl,
    },
    {
      secrets_location: 'Whether the external secrets are those of a repository or of an organization.',
      access_token: 'Token that may write secrets. Required, unless an application is used.',
      app_name: 'Code-host application of this namespace, instead of an access token.',
      installation_id: 'Number of the installation of the application.',
      repository_owner: 'Account that owns the repository. Required for a repository.',
      repository_name: 'Name of the repository, without its owner. Required for a repository.',
      environment_name:
        'Environment of the repository. Without it, the secrets are those of the whole repository.',
      organization_name: 'Name of the organization. Required for an organization.',
      organization_visibility:
        'Which repositories see the secrets of the organization. Without it, the private and internal ones.',
      selected_repository_names:
        'Repositories that see the secrets, without the name of the organization. Only for the visibility selected.',
      enterprise_url:
        'URL of a self-hosted server, such as https://git.example.com. Without it, the public service.',
    },
  ),
  ...commonFields,
});

/** Where the external secrets are; the marks of the write-only store are about one place. */
const place = [
  'secrets_location',
  'repository_owner',
  'repository_name',
  'environment_name',
  'organization_name',
  'enterprise_url',
];

/** codehost: action secrets of a repository, an environment or an organization (docs/conventions.md#518-codehost). */
export const codehost: DestinationDescription = {
  type: 'codehost',
  fields,
  defaults: {
    secrets_location: 'repository',
    app_name: '',
    installation_id: '',
    repository_owner: '',
    repository_name: '',
    environment_name: '',
    organization_name: '',
    organization_visibility: '',
    selected_repository_names: [],
    enterprise_url: '',
    ...commonDefaults('secret-key'),
  },
  secretFields: ['access_token'],
  connectionFields: [
    'access_token',
    'app_name',
    'installation_id',
    ...place,
    'organization_visibility',
    'selected_repository_names',
  ],
  appField: 'app_name',
  immutableFields: place,
  pushedFields: ['organization_visibility', 'selected_repository_names'],
  supportsTags: false,
  tagRule: { maxCustomTags: 0, check: () => undefined },
  // https://docs.github.com/en/actions/reference/security/secrets#limits-for-secrets
  maxValueBytes: 48 * 1024,
  takesEmptyValue: true,
  account: ({ enterprise_url: server, installation_id: installation }, { access_token: token }) =>
    installation ? [server, 'installation', installation] : [server, 'token', token],
  // https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api
  budget: { perSecond: 1, burst: 1, maxOutstanding: 1 },
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
};

type Settings = Readonly<Record<string, Json>>;

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
const unexpected = (settings: Settings, names: readonly string[], condition: string): string[] =>
  names.filter((name) => isSet(settings[name])).map((name) => `${name}: requires ${condition}`);

const missing = (settings: Settings, names: readonly string[], condition: string): string[] =>
  names.filter((name) => !isSet(settings[name])).map((name) => `${name}: is required ${condition}`);

function credentialProblems(settings: Settings, credentials: ReadonlySet<string>): string[] {
  const hasToken = credentials.has('access_token');
  const app = ['app_name', 'installation_id'].filter((name) => isSet(settings[name]));
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

const repositoryProblems = (settings: Settings): string[] => [
  ...missing(settings, ['repository_owner', 'repository_name'], 'with secrets_location repository'),
  ...unexpected(
    settings,
    ['organization_name', 'organization_visibility', 'selected_repository_names'],
    'secrets_location organization',
  ),
];

function organizationProblems(settings: Settings): string[] {
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
