import {
  controlCharacters,
  driftPolicies,
  emptyOr,
  flag,
  orPairs,
  secondsBetween,
  stringList,
  withoutControl,
} from '@secrets/domain';
import { z } from 'zod';
import type { Granularity } from '../description.ts';
import { instruction, option } from './field.ts';

/** A text of at most `maxLength` characters without control characters. Surrounding white space is removed. */
export const text = (maxLength: number) =>
  z
    .string({ error: 'must be a string' })
    .trim()
    .max(maxLength, `must not be longer than ${maxLength} characters`)
    .regex(withoutControl, 'must not contain control characters');

/** A text that is stored encrypted. One that begins with @ is refused: files are not read on behalf of a request. */
export const secretText = (maxLength: number) =>
  text(maxLength).meta({ pattern: `^(?:[^\\s\\uFEFF@${controlCharacters}][^${controlCharacters}]*)?$` });

/** A text that is empty or matches the pattern. */
export const textLike = (pattern: RegExp, sentence: string, maxLength = 2048) =>
  text(maxLength)
    .refine((given) => given === '' || pattern.test(given), sentence)
    .meta({ pattern: emptyOr(pattern) });

const listOf = <Item extends z.ZodType<string>>(item: Item, sentence: string) =>
  stringList
    .refine((given) => given.length <= 100 && given.every((part) => item.safeParse(part).success), sentence)
    .meta({ type: 'array', maxItems: 100, items: itemSchema(item) });

const itemSchema = (item: z.ZodType): object => {
  const { $schema: _, ...schema } = z.toJSONSchema(item);
  return schema;
};

const ports = z
  .union([z.array(z.union([z.number(), z.string()])), z.string(), z.number()], {
    error: 'must be a list of ports',
  })
  .transform((given) => (Array.isArray(given) ? given : String(given).split(',')).map((port) => Number(port)))
  .refine(
    (given) =>
      given.length <= 100 && given.every((port) => Number.isInteger(port) && port >= 1 && port <= 65_535),
    'must be a list of at most 100 ports from 1 to 65535',
  )
  .meta({ type: 'array', maxItems: 100, items: { type: 'integer', minimum: 1, maximum: 65_535 } });

const tags = orPairs(
  z.record(z.string(), z.union([z.string(), z.null()], { error: 'must be a map of strings' }), {
    error: 'must be a map of strings',
  }),
).meta({
  propertyNames: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9 _.:/=+@-]{0,61}$' },
  additionalProperties: {
    anyOf: [{ type: 'string', pattern: '^[A-Za-z0-9 _.:/=+@-]{0,63}$' }, { type: 'null' }],
  },
});

/** The fields that say what the destination may connect to. */
const networkFields = {
  allowed_ipv4_addresses: option(
    listOf(z.union([z.ipv4(), z.cidrv4()]), 'must be a list of at most 100 IPv4 addresses or CIDRs'),
    {
      default: [],
      group: 'network',
      help: 'IPv4 addresses or CIDRs that the destination may also connect to, within the limits of the operator.',
    },
  ),
  allowed_ipv6_addresses: option(
    listOf(z.union([z.ipv6(), z.cidrv6()]), 'must be a list of at most 100 IPv6 addresses or CIDRs'),
    {
      default: [],
      group: 'network',
      help: 'IPv6 addresses or CIDRs that the destination may also connect to, within the limits of the operator.',
    },
  ),
  allowed_ports: option(ports, {
    default: [],
    group: 'network',
    help: 'Ports that the destination may also connect to, within the limits of the operator.',
  }),
  disable_strict_networking: option(flag, {
    default: false,
    group: 'network',
    help: 'Whether the destination may connect to everything that the operator permits.',
  }),
};

/** Returns the fields of every type (docs/conventions/sync.md#destinations). */
export const commonFields = (granularity: Granularity) => ({
  secret_name_template: option(
    z
      .string({ error: 'must be a string' })
      .max(1024, 'must not be longer than 1024 characters')
      .regex(withoutControl, 'must not contain control characters'),
    {
      default: '',
      shownAsStored: true,
      help: 'Template of the names of the external secrets, such as {{ .SecretPath | replace "/" "-" }}. Empty for the default of the type.',
    },
  ),
  granularity: option(z.enum(['secret-path', 'secret-key'], { error: 'must be secret-path or secret-key' }), {
    default: granularity,
    shownAsStored: true,
    help: 'One external secret for each secret, or one for each of its keys.',
  }),
  value_key: option(text(512), {
    default: '',
    selectsValue: true,
    help: 'At secret-path granularity, the key whose value is pushed as it is, in place of all keys as JSON. Empty for JSON.',
  }),
  conflict_policy: option(z.enum(['refuse', 'overwrite'], { error: 'must be refuse or overwrite' }), {
    default: 'refuse',
    help: "What to do about an existing external secret that is not the destination's own: leave it alone, or take it over. One that another destination has marked is never taken over.",
  }),
  drift_policy: option(z.enum(driftPolicies, { error: 'must be report, repair or off' }), {
    default: 'report',
    help: 'What to do about external secrets that somebody else has changed or deleted: report them, repair them by pushing again, or off to look for none.',
  }),
  inspection_period: option(secondsBetween(300, 90 * 86_400, '5m and 2160h (90 days)'), {
    default: 86_400,
    help: 'How often to look at each external secret.',
  }),
  ...networkFields,
});

/** The fields of types that support tags. */
export const tagFields = {
  custom_tags: option(tags as z.ZodType<Record<string, string>>, {
    default: {},
    pushed: true,
    shownAsStored: true,
    help: 'Tags of the external secrets. Merged with the existing ones; in a request, null removes one.',
  }),
  tags_to_remove: instruction(stringList, { help: 'Keys of custom tags to remove.' }),
};
