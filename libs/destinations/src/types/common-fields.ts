import { controlCharacters, emptyOr, flag, type Json, stringList, withoutControl } from '@secrets/domain';
import { z } from 'zod';
import type { Granularity } from '../description.ts';

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
    description: 'null removes a tag',
    propertyNames: { type: 'string', pattern: '^[A-Za-z][A-Za-z0-9 _.:/=+@-]{0,61}$' },
    additionalProperties: {
      anyOf: [{ type: 'string', pattern: '^[A-Za-z0-9 _.:/=+@-]{0,63}$' }, { type: 'null' }],
    },
  });

/** The fields of every type (docs/conventions.md#52-destinations). */
export const commonFields = {
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
};

/** The fields of types that support tags. `tags_to_remove` applies to one request and is not stored. */
export const tagFields = { custom_tags: tags, tags_to_remove: stringList };

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
