import { controlCharacters, emptyOr, flag, type Json, stringList, withoutControl } from '@secrets/domain';
import { z } from 'zod';
import type { Granularity } from '../description.ts';
import { withHelp } from './field-help.ts';

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

const tags = z
  .record(z.string(), z.union([z.string(), z.null()], { error: 'must be a map of strings' }), {
    error: 'must be a map of strings',
  })
  .meta({
    propertyNames: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9 _.:/=+@-]{0,61}$' },
    additionalProperties: {
      anyOf: [{ type: 'string', pattern: '^[A-Za-z0-9 _.:/=+@-]{0,63}$' }, { type: 'null' }],
    },
  });

/** The fields of every type (docs/conventions.md#52-destinations). */
export const commonFields = withHelp(
  {
    secret_name_template: z
      .string({ error: 'must be a string' })
      .max(1024, 'must not be longer than 1024 characters')
      .regex(withoutControl, 'must not contain control characters'),
    granularity: z.enum(['secret-path', 'secret-key'], { error: 'must be secret-path or secret-key' }),
    conflict_policy: z.enum(['refuse', 'overwrite'], { error: 'must be refuse or overwrite' }),
    allowed_ipv4_addresses: listOf(
      z.union([z.ipv4(), z.cidrv4()]),
      'must be a list of at most 100 IPv4 addresses or CIDRs',
    ),
    allowed_ipv6_addresses: listOf(
      z.union([z.ipv6(), z.cidrv6()]),
      'must be a list of at most 100 IPv6 addresses or CIDRs',
    ),
    allowed_ports: ports,
    disable_strict_networking: flag,
  },
  {
    secret_name_template:
      'Template of the names of the external secrets, such as {{ .SecretPath | replace "/" "-" }}. Empty for the default of the type.',
    granularity: 'One external secret for each secret, or one for each of its keys.',
    conflict_policy:
      "What to do about an existing external secret that is not the destination's own: leave it alone, or take it over. One that another destination has marked is never taken over.",
    allowed_ipv4_addresses:
      'IPv4 addresses or CIDRs that the destination may also connect to, within the limits of the operator.',
    allowed_ipv6_addresses:
      'IPv6 addresses or CIDRs that the destination may also connect to, within the limits of the operator.',
    allowed_ports: 'Ports that the destination may also connect to, within the limits of the operator.',
    disable_strict_networking: 'Whether the destination may connect to everything that the operator permits.',
  },
);

/** The fields of types that support tags. `tags_to_remove` applies to one request and is not stored. */
export const tagFields = withHelp(
  { custom_tags: tags, tags_to_remove: stringList },
  {
    custom_tags:
      'Tags of the external secrets. Merged with the existing ones; in a request, null removes one.',
    tags_to_remove: 'Keys of custom tags to remove.',
  },
);

/** The defaults of `commonFields`. */
export const commonDefaults = (granularity: Granularity): Record<string, Json> => ({
  secret_name_template: '',
  granularity,
  conflict_policy: 'refuse',
  allowed_ipv4_addresses: [],
  allowed_ipv6_addresses: [],
  allowed_ports: [],
  disable_strict_networking: false,
});
