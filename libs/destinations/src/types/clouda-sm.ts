import { integer, type Json, stringList } from '@secrets/domain';
import { z } from 'zod';
import type { DestinationDescription } from '../description.ts';
import { truncateSha256 } from '../names/template/name-functions.ts';
import { builtInTagCount } from '../tags/built-in-tags.ts';
import { commonDefaults, commonFields, secretText, tagFields, textLike } from './common-fields.ts';

import {
  federationConnectionFields,
  federationDefaults,
  federationFields,
  federationProblems,
} from './federation-fields.ts';
import { withHelp } from './field-help.ts';

const maxNameLength = 512;
const regionForm = /^[a-z]{2}(?:-[a-z]+){1,3}-[0-9]{1,2}$/;

const regions = stringList
  .refine(
    (given) => given.length <= 40 && given.every((region) => regionForm.test(region)),
    'must be a list of at most 40 regions such as eu-central-1',
  )
  .meta({ type: 'array', maxItems: 40, items: { type: 'string', pattern: regionForm.source } });

const recoveryDays = integer
  .refine((days) => days === 0 || (days >= 7 && days <= 30), 'must be 0 (delete immediately) or from 7 to 30')
  .meta({ anyOf: [{ const: 0 }, { type: 'integer', minimum: 7, maximum: 30 }] });

const fields = z.object({
  ...withHelp(
    {
      access_key_id: textLike(/^[A-Za-z0-9_]{1,128}$/, 'must be letters, digits and _, at most 128'),
      secret_access_key: secretText(1024),
      role_arn: textLike(
        /^arn:[a-z0-9-]+:iam::[0-9]{12}:role\/[A-Za-z0-9_+=,.@/-]{1,512}$/,
        'must be the ARN of a role, such as arn:aws:iam::123456789012:role/sync',
      ),
      external_id: textLike(
        /^[A-Za-z0-9_+=,.@:/-]{2,1224}$/,
        'must be 2 to 1224 of letters, digits and _+=,.@:/-',
      ),
      region: textLike(regionForm, 'must be a region such as eu-central-1'),
      kms_key_id: textLike(/^[A-Za-z0-9_:/-]{1,2048}$/, 'must be the id, ARN or alias of a key'),
      replica_regions: regions,
      recovery_window_days: recoveryDays,
    },
    {
      access_key_id:
        'ID of the access key. Both parts of the key or neither; without them, the environment of the worker supplies the credentials.',
      secret_access_key: 'Secret part of the access key.',
      role_arn: 'Role that is assumed with the credentials, or with an identity token.',
      external_id: 'External ID for assuming the role.',
      region:
        'Region of the external secrets, such as eu-central-1. Without it, that of the environment of the worker.',
      kms_key_id: 'Key that encrypts the external secrets. Without it, the default key of the account.',
      replica_regions: 'Further regions to which the external secrets are replicated.',
      recovery_window_days:
        'How long a deleted external secret can be restored: 0 deletes it immediately, otherwise 7 to 30 days.',
    },
  ),
  ...federationFields,
  ...tagFields,
  ...commonFields,
});

/** cloudA-sm: a secrets manager (docs/conventions.md#53-clouda-sm; the provider's API reference and quotas). */
export const cloudASm: DestinationDescription = {
  type: 'cloudA-sm',
  fields,
  defaults: {
    role_arn: '',
    external_id: '',
    region: '',
    kms_key_id: '',
    replica_regions: [],
    recovery_window_days: 0,
    ...federationDefaults,
    custom_tags: {},
    ...commonDefaults('secret-path'),
  },
  secretFields: ['access_key_id', 'secret_access_key'],
  connectionFields: [
    'access_key_id',
    'secret_access_key',
    'role_arn',
    'external_id',
    'region',
    ...federationConnectionFields,
  ],
  immutableFields: ['region'],
  pushedFields: ['custom_tags', 'kms_key_id', 'replica_regions'],
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
};

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

function checkTogether(settings: Readonly<Record<string, Json>>, credentials: ReadonlySet<string>): string[] {
  const replicas = settings.replica_regions as string[];
  const problems = [
    credentials.has('access_key_id') !== credentials.has('secret_access_key') &&
      'access_key_id: requires secret_access_key; set both or neither',
    settings.external_id !== '' && settings.role_arn === '' && 'external_id: requires role_arn',
    settings.region !== '' &&
      replicas.includes(settings.region as string) &&
      "replica_regions: must not contain the destination's own region",
    new Set(replicas).size < replicas.length && 'replica_regions: must not contain a region twice',
    // A role that is assumed with a token has no external ID.
    ...federationProblems(settings, credentials, {
      requires: ['role_arn'],
      excludes: ['access_key_id', 'secret_access_key', 'external_id'],
    }),
  ];
  return problems.filter((problem) => problem !== false);
}
