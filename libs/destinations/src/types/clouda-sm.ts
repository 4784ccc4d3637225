import { integer, orPairs, stringList } from '@secrets/domain';
import { z } from 'zod';
import { describeType } from '../description.ts';
import { commonFields, secretText, tagFields, textLike } from '../fields/common-fields.ts';
import { federationFields, federationProblems } from '../fields/federation-fields.ts';
import { connection, option, type SettingsOf, secret } from '../fields/field.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';
import { builtInTagCount } from '../tags/built-in-tags.ts';

const maxNameLength = 512;
const regionForm = /^[a-z]{2}(?:-[a-z]+){1,3}-[0-9]{1,2}$/;

const areRegions = (given: readonly string[]) =>
  given.length <= 40 && given.every((region) => regionForm.test(region));

const notRegions = 'must be a list of at most 40 regions such as eu-central-1, or a map of their keys';
const keyForm = /^[A-Za-z0-9_:/-]{1,2048}$/;

/** Regions, or the key of the replica in each; an empty one is the default key of the account. */
const regions = z
  .union(
    [
      stringList.refine(areRegions, notRegions),
      orPairs(z.record(z.string(), z.string()))
        .refine((given) => areRegions(Object.keys(given)), notRegions)
        .refine((given) => Object.values(given).every((key) => key === '' || keyForm.test(key)), notRegions),
    ],
    { error: notRegions },
  )
  .meta({ type: 'array', maxItems: 40, items: { type: 'string', pattern: regionForm.source } });

/** A multi-region key has the same ID in each of its regions, and an alias is looked up in each. */
const isMultiRegion = (key: string): boolean => /(?:^|[:/])(?:mrk-|alias\/)/.test(key);

/**
 * Returns the key of each replica by its region: that of the map, else `kms_key_id` if its region can have it, else the default
 * key of the account, which is empty. An ARN contains its region.
 */
export function replicaKeys({
  kms_key_id: key,
  replica_regions: replicas,
}: Pick<SettingsOf<typeof fields>, 'kms_key_id' | 'replica_regions'>): Readonly<Record<string, string>> {
  if (!Array.isArray(replicas)) return replicas as Record<string, string>;
  const keyIn = (region: string) =>
    isMultiRegion(key) ? key.replace(/^(arn:[^:]+:kms):[^:]*:/, `$1:${region}:`) : '';
  return Object.fromEntries(replicas.map((region) => [region, keyIn(region)]));
}

const recoveryDays = integer
  .refine((days) => days === 0 || (days >= 7 && days <= 30), 'must be 0 (delete immediately) or from 7 to 30')
  .meta({ anyOf: [{ const: 0 }, { type: 'integer', minimum: 7, maximum: 30 }] });

const fields = {
  access_key_id: secret(textLike(/^[A-Za-z0-9_]{1,128}$/, 'must be letters, digits and _, at most 128'), {
    help: 'ID of the access key. Both parts of the key or neither; without them, the environment of the worker supplies the credentials.',
  }),
  secret_access_key: secret(secretText(1024), { help: 'Secret part of the access key.' }),
  role_arn: connection(
    textLike(
      /^arn:[a-z0-9-]+:iam::[0-9]{12}:role\/[A-Za-z0-9_+=,.@/-]{1,512}$/,
      'must be the ARN of a role, such as arn:aws:iam::123456789012:role/sync',
    ),
    { default: '', help: 'Role that is assumed with the credentials, or with an identity token.' },
  ),
  external_id: connection(
    textLike(/^[A-Za-z0-9_+=,.@:/-]{2,1224}$/, 'must be 2 to 1224 of letters, digits and _+=,.@:/-'),
    { default: '', help: 'External ID for assuming the role.' },
  ),
  region: connection(textLike(regionForm, 'must be a region such as eu-central-1'), {
    default: '',
    immutable: true,
    help: 'Region of the external secrets, such as eu-central-1. Without it, that of the environment of the worker.',
  }),
  kms_key_id: option(textLike(keyForm, 'must be the id, ARN or alias of a key'), {
    default: '',
    pushed: true,
    help: 'Key that encrypts the external secrets. Without it, the default key of the account.',
  }),
  replica_regions: option(regions, {
    default: [],
    pushed: true,
    help: 'Further regions to which the external secrets are replicated: a list, or a map from the region to the key of the replica. Replicas of a list use `kms_key_id`, if it is an alias or a multi-region key.',
  }),
  recovery_window_days: option(recoveryDays, {
    default: 0,
    help: 'How long a deleted external secret can be restored: 0 deletes it immediately, otherwise 7 to 30 days.',
  }),
  ...federationFields,
  ...tagFields,
  ...commonFields('secret-path'),
};

/** cloudA-sm: a secrets manager (docs/destinations/clouda-sm.md; the provider's API reference and quotas). */
export const cloudASm = describeType({
  type: 'cloudA-sm',
  fields,
  supportsTags: true,
  tagRule: { maxCustomTags: 50 - builtInTagCount, check: checkTag },
  maxValueBytes: 65_536,
  takesEmptyValue: false,
  // Quotas are per account and region: https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_limits.html
  account: ({ role_arn, region }, { access_key_id }) => [access_key_id ?? '', role_arn, region],
  budget: { perSecond: 50, burst: 50 },
  nameRule: {
    defaultTemplate: (prefix, granularity) =>
      `${prefix}/{{ .MountAccessor }}/{{ .SecretPath }}${granularity === 'secret-key' ? '/{{ .SecretKey }}' : ''}`,
    normalise: (name) => truncateSha256(name.replace(/[^A-Za-z0-9/_+=.@-]/gu, '-'), maxNameLength),
    check: checkName,
    collisionKey: (name) => name,
  },
  check: checkTogether,
});

/**
 * A hyphen followed by six characters at the end is allowed, although the provider advises against it: only a partial
 * ARN would be ambiguous, and the driver sends complete names and ARNs.
 */
function checkName(name: string): string | undefined {
  if (name.length < 1 || name.length > maxNameLength)
    return `must have 1 to ${maxNameLength} characters, and has ${name.length}`;
  return /^[A-Za-z0-9/_+=.@-]+$/.test(name) ? undefined : 'may only contain letters, digits and /_+=.@-';
}

function checkTag(key: string, value: string): string | undefined {
  if (key.length < 1 || key.length > 128) return 'must have a key of 1 to 128 characters';
  if (value.length > 256) return 'must have a value of at most 256 characters';
  if (/^aws:/i.test(key)) return 'must not begin with aws:, which the provider reserves';
  return /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u.test(key + value)
    ? undefined
    : 'may only contain letters, digits, spaces and _.:/=+-@';
}

function checkTogether(settings: SettingsOf<typeof fields>, credentials: ReadonlySet<string>): string[] {
  const replicas = Array.isArray(settings.replica_regions)
    ? settings.replica_regions
    : Object.keys(settings.replica_regions);
  const problems = [
    credentials.has('access_key_id') !== credentials.has('secret_access_key') &&
      'access_key_id: requires secret_access_key; set both or neither',
    settings.external_id !== '' && settings.role_arn === '' && 'external_id: requires role_arn',
    settings.region !== '' &&
      replicas.includes(settings.region) &&
      "replica_regions: must not contain the destination's own region",
    Array.isArray(settings.replica_regions) &&
      replicas.length > 0 &&
      settings.kms_key_id !== '' &&
      !isMultiRegion(settings.kms_key_id) &&
      'replica_regions: must be a map from each region to the key of its replica, because kms_key_id exists in one region only',
    new Set(replicas).size < replicas.length && 'replica_regions: must not contain a region twice',
    // A role that is assumed with a token has no external ID.
    ...federationProblems(settings, credentials, {
      requires: ['role_arn'],
      excludes: ['access_key_id', 'secret_access_key', 'external_id'],
    }),
  ];
  return problems.filter((problem) => problem !== false);
}
