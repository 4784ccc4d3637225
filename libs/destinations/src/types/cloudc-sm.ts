import { orPairs, stringList } from '@secrets/domain';
import { z } from 'zod';
import { describeType } from '../description.ts';
import { commonFields, tagFields, textLike } from '../fields/common-fields.ts';
import { federationFields, federationProblems, isFederated } from '../fields/federation-fields.ts';
import { connection, option, type SettingsOf, secret } from '../fields/field.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';
import { builtInTagCount } from '../tags/built-in-tags.ts';
import { isLabelKey, labelOf } from '../tags/labels.ts';
import { parseCredentials, whyCredentialsRefused } from './cloudc-credentials.ts';

const maxNameLength = 255;
const maxLabels = 64;
const maxCredentialsLength = 16_384;
const projectForm = /^(([a-z0-9.-]{1,100}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]|[0-9]{1,20})$/;

const providerForm =
  /^projects\/[a-z0-9-]{1,63}\/locations\/global\/workloadIdentityPools\/[a-z0-9-]{1,63}\/providers\/[a-z0-9-]{1,63}$/;

const locationForm = /^[a-z]{2,}(?:-[a-z]+)+[0-9]{1,2}$/;

const locations = stringList
  .refine(
    (given) => given.length <= 40 && given.every((location) => locationForm.test(location)),
    'must be a list of at most 40 locations such as europe-west1',
  )
  .meta({ type: 'array', maxItems: 40, items: { type: 'string', pattern: locationForm.source } });

const keyForm =
  /^projects\/[a-z0-9.:-]{1,100}\/locations\/[a-z0-9-]{1,40}\/keyRings\/[A-Za-z0-9_-]{1,63}\/cryptoKeys\/[A-Za-z0-9_-]{1,63}$/;
const globalKeyForm = new RegExp(keyForm.source.replace('[a-z0-9-]{1,40}', 'global'));
const notGlobalKey =
  'must be the full name of a key: projects/<project>/locations/global/keyRings/<ring>/cryptoKeys/<key>';
const locationOf = (key: string): string | undefined => key.split('/')[3];

const notKeys = 'must be a map from at most 40 locations to the full name of a key there';
const keysByLocation = orPairs(z.record(z.string(), z.string(), { error: notKeys }))
  .refine(
    (given) =>
      Object.keys(given).length <= 40 &&
      Object.entries(given).every(([location, key]) => locationForm.test(location) && keyForm.test(key)),
    notKeys,
  )
  .meta({
    maxProperties: 40,
    propertyNames: { pattern: locationForm.source },
    additionalProperties: { type: 'string', pattern: keyForm.source },
  });

/** Empty removes the credentials; a text that begins with @ is refused wherever credentials are set. */
const credentials = z
  .string({ error: 'must be a string: the content of a key file' })
  .trim()
  .max(maxCredentialsLength, `must not be longer than ${maxCredentialsLength} characters`)
  .superRefine((text, context) => {
    const reason = text === '' || text.startsWith('@') ? undefined : whyCredentialsRefused(text);
    if (reason !== undefined) context.addIssue({ code: 'custom', message: reason });
  })
  .meta({ contentMediaType: 'application/json', examples: [''] });

const fields = {
  credentials: secret(credentials, {
    help: 'Content of the key file of a service account, as JSON. Without it, the environment of the worker supplies the credentials.',
  }),
  project_id: connection(textLike(projectForm, 'must be the ID of a project, such as my-project-123'), {
    default: '',
    immutable: true,
    derived: true,
    help: 'Project of the external secrets. Without it, that of the credentials.',
  }),
  location: connection(textLike(locationForm, 'must be a location such as europe-west3'), {
    default: '',
    immutable: true,
    help: 'Location of regional external secrets, such as europe-west3. Without it, they are replicated.',
  }),
  replication_locations: option(locations, {
    default: [],
    pushed: true,
    help: 'Locations of the replicas of new external secrets, such as europe-west1. Without any, the provider chooses.',
  }),
  global_kms_key: option(textLike(globalKeyForm, notGlobalKey), {
    default: '',
    pushed: true,
    help: 'Key of the location global that encrypts the external secrets. Only without replication_locations and location.',
  }),
  locational_kms_keys: option(keysByLocation, {
    default: {},
    pushed: true,
    help: 'Keys that encrypt the external secrets, by location: one for each of replication_locations, or one for location.',
  }),
  service_account_email: connection(
    textLike(
      /^[^\s@/\uFEFF]{1,128}@[a-z0-9.-]{1,255}$/,
      'must be the address of a service account, such as sync@my-project-123.iam.gserviceaccount.com',
    ),
    {
      default: '',
      group: 'identity',
      help: 'Service account that is impersonated with an identity token.',
    },
  ),
  workload_identity_provider: connection(
    textLike(
      providerForm,
      'must be a provider, such as projects/123456/locations/global/workloadIdentityPools/pool/providers/secrets',
    ),
    {
      default: '',
      group: 'identity',
      help: 'Provider that exchanges identity tokens. Without it, the one that the audience names.',
    },
  ),
  ...federationFields,
  ...tagFields,
  ...commonFields('secret-path'),
};

/** The stored settings of a destination. */
export type CloudCSettings = SettingsOf<typeof fields>;

/** cloudC-sm: a secret manager (docs/destinations/cloudc-sm.md; the provider's quotas and API reference). */
export const cloudCSm = describeType({
  type: 'cloudC-sm',
  fields,
  supportsTags: true,
  tagRule: {
    maxCustomTags: maxLabels - builtInTagCount,
    check: (key) => (isLabelKey(key) ? undefined : 'must begin with a letter'),
  },
  maxValueBytes: 65_536,
  takesEmptyValue: false,
  // Quotas are per project, and those of regional secrets per location, too: https://cloud.google.com/secret-manager/quotas
  account: ({ project_id, location }) => (location === '' ? [project_id] : [project_id, location]),
  // The quota is 600 write requests per minute, and an entry takes two of them: a new secret is created and gets a
  // version, a new value adds a version and destroys the one before. The burst is small, because it comes on top of the
  // first minute.
  budget: { perSecond: 5, burst: 5 },
  nameRule: {
    defaultTemplate: (prefix, granularity) =>
      `${prefix}-{{ .MountAccessor }}-{{ .SecretPath }}${granularity === 'secret-key' ? '-{{ .SecretKey }}' : ''}`,
    normalise: (name) => truncateSha256(name.replace(/[^A-Za-z0-9_-]/gu, '-'), maxNameLength),
    check: checkName,
    collisionKey: (name) => name,
  },
  derive: withProject,
  check: checkTogether,
});

function checkName(name: string): string | undefined {
  if (name.length < 1 || name.length > maxNameLength)
    return `must have 1 to ${maxNameLength} characters, and has ${name.length}`;
  return /^[A-Za-z0-9_-]+$/.test(name) ? undefined : 'may only contain letters, digits, _ and -';
}

/** Stores the project that the credentials name, so that later credentials cannot move the destination to another one. */
function withProject(
  settings: CloudCSettings,
  { credentials: text }: Readonly<Record<string, string>>,
): CloudCSettings {
  if (settings.project_id !== '' || text === undefined) return { ...settings };
  const project = parseCredentials(text)?.project_id;
  return { ...settings, project_id: typeof project === 'string' && projectForm.test(project) ? project : '' };
}

function checkTogether(settings: CloudCSettings, given: ReadonlySet<string>): string[] {
  const keys = Object.keys(settings.custom_tags);
  const replicas = settings.replication_locations;
  const colliding = keys.find(
    (key, index) => keys.findIndex((other) => labelOf(other) === labelOf(key)) < index,
  );
  const problems = [
    settings.project_id === '' &&
      (given.has('credentials')
        ? 'project_id: is required, because the credentials name no valid project'
        : "credentials: is required, or project_id to use the credentials of the worker's environment"),
    new Set(replicas).size < replicas.length && 'replication_locations: must not contain a location twice',
    colliding !== undefined &&
      `custom_tags: ${JSON.stringify(colliding.slice(0, 128))} becomes the same label as another key`,
    ...keyProblems(settings),
    ...federationProblems(settings, given, { requires: [], excludes: ['credentials'] }),
    ...providerProblems(settings),
  ];
  return problems.filter((problem) => problem !== false);
}

/**
 * An automatic replication takes a key of the location global, and a replica one of its own location; either all replicas
 * have one, or none (https://cloud.google.com/secret-manager/docs/cmek). A regional secret has no replication, and a key of its
 * location (https://cloud.google.com/secret-manager/docs/cmek-regional-secrets).
 */
function keyProblems({
  location,
  replication_locations: locations,
  global_kms_key: key,
  locational_kms_keys: keys,
}: CloudCSettings): (string | false)[] {
  const keyed = Object.keys(keys);
  const places = location === '' ? locations : [location];
  const isComplete = keyed.length === places.length && places.every((place) => keyed.includes(place));
  return [
    location !== '' &&
      locations.length > 0 &&
      'replication_locations: excludes location, because regional secrets are not replicated',
    key !== '' && location !== '' && 'global_kms_key: excludes location; use locational_kms_keys',
    key !== '' &&
      locations.length > 0 &&
      'global_kms_key: excludes replication_locations; use locational_kms_keys',
    keyed.length > 0 &&
      !isComplete &&
      (location === ''
        ? 'locational_kms_keys: must have a key for each of replication_locations, and no other'
        : 'locational_kms_keys: must have a key for location, and no other'),
    Object.entries(keys).some(([place, name]) => locationOf(name) !== place) &&
      'locational_kms_keys: each key must be in the location that it is given for',
  ];
}

function providerProblems(settings: CloudCSettings): string[] {
  if (isFederated(settings))
    return providerOf(settings) === undefined
      ? [
          'workload_identity_provider: is required, unless identity_token_audience is the full name of the provider',
        ]
      : [];
  return (['service_account_email', 'workload_identity_provider'] as const)
    .filter((field) => settings[field] !== '')
    .map((field) => `${field}: requires identity_token_audience`);
}

/**
 * Returns the provider that exchanges identity tokens: the one that is set, else the audience, which by default is the
 * provider's full name, with or without the scheme
 * (https://cloud.google.com/iam/docs/reference/rest/v1/projects.locations.workloadIdentityPools.providers).
 */
export function providerOf({
  workload_identity_provider: provider,
  identity_token_audience: audience,
}: Pick<CloudCSettings, 'workload_identity_provider' | 'identity_token_audience'>): string | undefined {
  if (provider !== '') return provider;
  const name = audience.replace(/^(https:)?\/\/iam\.googleapis\.com\//, '');
  return name !== audience && providerForm.test(name) ? name : undefined;
}
