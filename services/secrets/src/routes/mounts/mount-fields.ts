import {
  invalid,
  type Json,
  mountAttributesIn,
  mountConfigFields,
  mountFlags,
  mountOptions,
  mountOptionsMeta,
  orPairs,
  tunedMountLists,
  tunedSeconds,
  withoutNul,
} from '@secrets/domain';
import { z } from 'zod';
import { retentionChange, retentionFields } from '../../mounts/retention.ts';
import type { MountChange } from '../../queries/mounts/change-mounts.ts';
import { isStorable } from '../../storable-text.ts';

export const mountType = z
  .string()
  .refine((given) => given !== 'kv-v1', {
    error: 'version 1 of the key-value store is not supported; mount kv-v2',
  })
  .refine((given) => ['kv', 'kv-v1', 'kv-v2'].includes(given), { error: 'must be kv' })
  .meta({ enum: ['kv', 'kv-v2'] });

const version = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine((given) => given !== '1', {
    error: 'version 1 of the key-value store is not supported; mount version 2',
  })
  .refine((given) => ['1', '2'].includes(given), { error: 'must be 2' })
  .meta({ enum: ['2', 2] });

const description = z
  .string()
  .max(2_048)
  .refine(isStorable, { error: 'must not contain NUL' })
  .meta(withoutNul)
  .optional();

/** Refuses token settings on a mount of secrets, like other servers of this API. */
const noTokens = z.literal('', { error: 'can only be set on auth mounts' }).optional();

const leases = { default_lease_ttl: tunedSeconds, max_lease_ttl: tunedSeconds, token_type: noTokens };
const options = orPairs(z.looseObject({ version: version.nullish() }, 'must be a map of strings'))
  .refine(({ version: _, ...others }) => mountOptions.safeParse(others).success, {
    error: 'must be a map of strings',
  })
  .meta(mountOptionsMeta)
  .optional();

const config = z.object({ ...retentionFields, ...leases, ...mountConfigFields, options }).optional();

export const mountFields = {
  description,
  options,
  config,
  ...mountFlags,
};

/** The settings in a change. Those of `config` may also be at the top level, which takes precedence. */
export const tunedFields = {
  ...retentionFields,
  ...leases,
  ...mountConfigFields,
  ...tunedMountLists,
  description,
  options,
  config,
};

const MountFields = z.object({ ...mountFields, ...tunedFields });
type MountFields = Partial<z.infer<typeof MountFields>>;

/** Returns the changes that a request makes to a mount. */
export function mountChange({ config = {}, description, ...fields }: MountFields): MountChange {
  const given = Object.entries(retentionChange(fields)).filter(([, value]) => value !== undefined);
  return {
    description,
    ...retentionChange(config),
    ...Object.fromEntries(given),
    attributes: attributesIn(config, fields),
  };
}

/** Throws `invalid` if the lease TTLs contradict each other. */
function attributesIn(config: NonNullable<MountFields['config']>, fields: MountFields) {
  const leaseTtl = (name: 'default_lease_ttl' | 'max_lease_ttl') => fields[name] ?? config[name];
  const leases = {
    default_lease_ttl: leaseTtl('default_lease_ttl'),
    max_lease_ttl: leaseTtl('max_lease_ttl'),
  };
  if (leases.max_lease_ttl && (leases.default_lease_ttl ?? 0) > leases.max_lease_ttl)
    throw invalid('default_lease_ttl: must not exceed max_lease_ttl');
  const { version: _, ...others } = fields.options ?? config.options ?? {};
  const options = (fields.options ?? config.options) === undefined ? undefined : (others as Json);
  return { ...mountAttributesIn(config, fields), ...leases, options };
}
