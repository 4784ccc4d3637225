import { z } from 'zod';
import { wholeSeconds } from './duration.ts';
import { withoutNul } from './patterns.ts';

// Field types of request bodies (docs/conventions/http.md#field-types): booleans and integers may be strings, and lists may be
// one comma-separated string.

/** A boolean; also `'true'`, `'false'`, `'1'` and `'0'`. */
export const flag = z
  .union([z.boolean(), z.enum(['true', 'false', '1', '0'])], { error: 'must be true or false' })
  .transform((given) => given === true || given === 'true' || given === '1');

/** An integer; also as a string. */
export const integer = z
  .union([z.int(), z.string().regex(/^-?\d{1,15}$/, 'must be a whole number')], {
    error: 'must be a whole number',
  })
  .transform(Number);

/** An integer in a range. The description of the API names the range, which it cannot derive from a check. */
export const integerBetween = (min: number, max: number, error = `must be between ${min} and ${max}`) =>
  integer
    .refine((given) => given >= min && given <= max, { error })
    .meta({ type: 'integer', minimum: min, maximum: max });

/** The most items of a list that is written as one string. Those of a JSON list are counted before it is parsed. */
const maxParts = 1_000;
const hasFewParts = (given: string): boolean => given.split(',', maxParts + 1).length <= maxParts;

/** One check of a whole list: an issue for each item of a long one would take longer than everything else. */
const areStrings = (given: readonly unknown[]): boolean => given.every((item) => typeof item === 'string');

const notList = { error: 'must be a list of strings or one comma-separated string' };
const tooManyParts = { error: 'must have at most 1,000 parts' };

/** A list of strings; also as one comma-separated string. Blanks around the parts, and empty parts, are dropped. */
export const stringList = z
  .union(
    [z.array(z.unknown()).refine(areStrings, notList), z.string().refine(hasFewParts, tooManyParts)],
    notList,
  )
  .transform((given) =>
    (typeof given === 'string' ? given.split(',') : (given as string[]))
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  )
  .meta({
    anyOf: [
      { type: 'array', items: { type: 'string', ...withoutNul } },
      { type: 'string', ...withoutNul },
    ],
  });

/**
 * A list whose items are parsed up to the first one that is invalid: an issue for each item of a long list would take longer
 * than everything else.
 */
export const listOf = <Item extends z.ZodType>(item: Item, error: string) =>
  z.array(z.any(), { error }).transform((given, context): z.output<Item>[] => {
    const parsed: z.output<Item>[] = [];
    for (const [at, one] of given.entries()) {
      const { success, data, error: refusal } = item.safeParse(one);
      if (success) parsed.push(data);
      else {
        context.addIssue({ code: 'custom', message: refusal.issues[0]!.message, path: [at] });
        return z.NEVER;
      }
    }
    return parsed;
  });

/**
 * Returns the map that a text `name=value` or a list of such texts is, the form in which command lines send one; undefined for
 * anything else. The last pair of a name applies. Vault and OpenBao read `TypeKVPairs` like this (sdk/framework/field_data.go).
 */
export function mapOfPairs(given: unknown): Record<string, string> | undefined {
  const pairs: readonly unknown[] = Array.isArray(given) ? given : [given];
  const isPair = (pair: unknown): pair is string => typeof pair === 'string' && pair.indexOf('=') > 0;
  if (!pairs.every(isPair)) return undefined;
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** A map that may also be written as pairs (`mapOfPairs`). */
export const orPairs = <Map extends z.ZodType>(map: Map) =>
  z.preprocess((given) => mapOfPairs(given) ?? given, map);

export const stringMap = orPairs(
  z.record(z.string(), z.string(), { error: 'must be a map of strings' }).meta({
    propertyNames: { type: 'string', ...withoutNul },
    additionalProperties: { type: 'string', ...withoutNul },
  }),
);

const notDuration = 'must be a duration in seconds or like 1h30m, not negative and at most 100 years';

/** A hundred years. */
const maxSeconds = 100 * 365 * 86_400;

/** A duration: a number of seconds, or a text such as `90` or `1h30m`, in whole seconds (`wholeSeconds`). */
export const seconds = z
  .union([z.number(), z.string()], { error: notDuration })
  .transform((input, context) => {
    const value = toSeconds(input);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: notDuration });
    return z.NEVER;
  })
  .meta({
    anyOf: [
      { type: 'integer', minimum: 0, maximum: maxSeconds },
      {
        type: 'string',
        pattern: '^(?:[0-9]{1,5}(?:ms|s|m|h)?|(?:[0-9]{1,2}h)?[0-9]{1,2}m(?:[0-9]{1,2}s)?)?$',
      },
    ],
  });

/** A duration in a range of seconds. `words` names the range in the message. */
export const secondsBetween = (min: number, max: number, words: string) =>
  seconds
    .refine((given) => given >= min && given <= max, { error: `must be between ${words}` })
    .meta({ type: 'integer', minimum: min, maximum: max });

function toSeconds(input: number | string): number | undefined {
  const text = String(input).trim();
  const value = text === '' ? 0 : wholeSeconds(text); // other servers of this API take an empty text for 0
  return value === undefined || value > maxSeconds ? undefined : value;
}
