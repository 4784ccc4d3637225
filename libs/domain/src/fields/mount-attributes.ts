import { z } from 'zod';
import type { Json } from '../json/json.ts';
import { flag, seconds, stringList, stringMap } from './lenient-fields.ts';
import { withoutControl } from './patterns.ts';

// What clients of other servers of this API say about a mount (https://developer.hashicorp.com/vault/api-docs/system/mounts).
// Most of it has no effect here, but is stored and shown: a client that reads something else than it wrote deletes the mount
// and creates it again.

/** Attributes that a client has set on a mount, by the name of the field. */
export type MountAttributes = Readonly<Record<string, Json>>;

/** Attributes in a request: null resets a field, and undefined keeps it. */
export type MountAttributesChange = Readonly<Record<string, Json | undefined>>;

const maxItems = 100;
const maxCharacters = 256;

const textMeta = { pattern: withoutControl.source, maxLength: maxCharacters };

const text = z
  .string()
  .max(maxCharacters)
  .regex(withoutControl, 'must not contain control characters')
  .meta(textMeta);

const list = stringList
  .refine((given) => given.length <= maxItems && given.every((item) => text.safeParse(item).success), {
    error: `must be a list of at most ${maxItems} texts of at most ${maxCharacters} characters`,
  })
  .meta({
    type: 'array',
    maxItems,
    items: { type: 'string', ...textMeta },
  });

/** Identity tokens are signed with one key. Another name would be a promise that is not kept. */
const onlyKey = z
  .enum(['', 'default'], { error: 'must be default: identity tokens are signed with one key' })
  .meta({ enum: ['', 'default'] });

const noLockout = z
  .record(z.string(), z.unknown())
  .refine((given) => Object.keys(given).length === 0, {
    error: 'cannot be set: no login method of this service locks users out',
  })
  .meta({ maxProperties: 0 });

/** Fields that are set when a mount is enabled, beside `config`. */
export const mountFlags = {
  local: flag.optional(),
  seal_wrap: flag.optional(),
  external_entropy_access: flag.optional(),
  plugin_version: text.optional(),
};

const lists = {
  audit_non_hmac_request_keys: list.optional(),
  audit_non_hmac_response_keys: list.optional(),
  passthrough_request_headers: list.optional(),
  allowed_response_headers: list.optional(),
  allowed_managed_keys: list.optional(),
  delegated_auth_accessors: list.optional(),
};

/** Fields of `config`, which can be changed later. */
export const mountConfigFields = {
  force_no_cache: flag.optional(),
  trim_request_trailing_slashes: flag.optional(),
  listing_visibility: z.enum(['', 'hidden', 'unauth'], { error: 'must be hidden or unauth' }).optional(),
  ...lists,
  plugin_version: text.optional(),
  identity_token_key: onlyKey.optional(),
  user_lockout_config: noLockout.optional(),
};

/** The lists of a mount in a change: null resets one. */
export const tunedMountLists = Object.fromEntries(
  Object.entries(lists).map(([name, field]) => [name, field.nullable()]),
) as { [Name in keyof typeof lists]: z.ZodNullable<(typeof lists)[Name]> };

/** The form of `mountOptions` in an API description. */
export const mountOptionsMeta = {
  maxProperties: maxItems,
  propertyNames: { type: 'string', ...textMeta },
  additionalProperties: { type: 'string', ...textMeta },
} as const;

/** Options of a mount, without the version of a key-value store. A change replaces all of them. */
export const mountOptions = stringMap
  .refine(
    (given) =>
      Object.keys(given).length <= maxItems &&
      Object.entries(given)
        .flat()
        .every((part) => text.safeParse(part).success),
    { error: `must have at most ${maxItems} texts of at most ${maxCharacters} characters` },
  )
  .meta(mountOptionsMeta);

/** A lifetime of leases in a change: an empty text keeps the value, `system` restores the default. */
export const tunedSeconds = z
  .union([z.literal('').transform(() => undefined), z.literal('system').transform(() => 0), seconds])
  .optional();

const configNames = Object.keys(mountConfigFields).filter((name) => name !== 'user_lockout_config');
const flagNames = Object.keys(mountFlags)
  .filter((name) => name !== 'plugin_version')
  .sort();

/** Picks what a request says from its fields, of which later objects precede. */
export function mountAttributesIn(...given: readonly (object | undefined)[]): MountAttributesChange {
  const fields: Record<string, unknown> = {};
  for (const part of given) Object.assign(fields, withoutUndefined(part ?? {}));
  const names = [...configNames, ...flagNames];
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name] as Json]),
  );
}

const withoutUndefined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** The attributes after a change. */
export const changedAttributes = (stored: MountAttributes, change: MountAttributesChange): MountAttributes =>
  Object.fromEntries(
    Object.entries({ ...stored, ...withoutUndefined(change) }).filter(([, value]) => value !== null),
  ) as MountAttributes;

/** Returns the fields that a response contains for a mount beside its `config`. */
export const presentMountFlags = (attributes: MountAttributes) => ({
  ...Object.fromEntries(flagNames.map((name) => [name, attributes[name] ?? false])),
  plugin_version: attributes.plugin_version ?? '',
});

/** Returns what a response contains for every mount: the code of its engine or login method is part of the service. */
export const builtInPlugin = {
  deprecation_status: 'supported',
  running_plugin_version: '',
  running_sha256: '',
};

/**
 * The name of the plugin of a mount. It is a part of the service, so another name than that of a type would be a promise
 * that is not kept.
 */
export const pluginNamed = (...types: string[]) =>
  z
    .enum(['', ...types], { error: `must be ${types.join(' or ')}: other plugins do not exist here` })
    .optional()
    .meta({ enum: ['', ...types] });

/** Returns the fields of `config` that are stored but have no effect. Fields that were never set are absent. */
export const presentMountConfig = (attributes: MountAttributes): Record<string, Json> => ({
  force_no_cache: false,
  ...Object.fromEntries(
    configNames
      .filter((name) => name !== 'plugin_version' && attributes[name] !== undefined)
      .map((name) => [name, attributes[name] as Json]),
  ),
});
