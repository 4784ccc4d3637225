import { isExactNumber, isJsonObject } from '@secrets/domain';
import { integer, integerBetween, listOf, orPairs, stringMap } from '@secrets/http';
import { z } from 'zod';
import { invisible, isVisible } from '../../visible-text.ts';

const maxInt = 2_147_483_647;

/** The number of a version; 0 for the newest one. */
export const versionNumber = integerBetween(0, maxInt, 'must be a version number');

const existingVersion = integerBetween(1, maxInt, 'must be a version number, from 1');

const maxVersions = 5_000;

/** Version numbers, also as one comma-separated string. */
export const versionList = z
  .preprocess(splitCommas, listOf(existingVersion, 'must be a list of version numbers'))
  .refine((given) => given.length > 0 && given.length <= maxVersions, {
    error: 'must have between 1 and 5000 version numbers',
  })
  .meta({
    anyOf: [
      {
        type: 'array',
        items: { type: 'integer', minimum: 1, maximum: maxInt },
        minItems: 1,
        maxItems: maxVersions,
      },
      { type: 'string', pattern: '^[1-9][0-9]{0,8}(?:,[1-9][0-9]{0,8})*$' },
    ],
  });

function splitCommas(given: unknown): unknown {
  if (typeof given === 'number') return [given];
  if (typeof given === 'string') return given.split(',', maxVersions + 1).map((part) => part.trim());
  return Array.isArray(given) ? given.map((one) => (isExactNumber(one) ? Number(one.rawJSON) : one)) : given;
}

/** The version that a check-and-set write expects to be current. */
const checkAndSet = integer
  .refine((given) => Math.abs(given) <= maxInt, { error: 'must be a version number' })
  .meta({ type: 'integer', minimum: 0, maximum: maxInt });

export const WriteOptions = z.object({ cas: checkAndSet.optional() }).optional();

const visiblePattern = `^[^${invisible}]*$`;

const maxKeys = 64;
const maxKeyBytes = 128;
const maxValueBytes = 512;
const describedText = { pattern: visiblePattern, maxLength: maxValueBytes / 4 };

/** Whether a secret may have so many keys of metadata. */
const fitsInSecret = (given: object): boolean => Object.keys(given).length <= maxKeys;
/** A patch removes some keys and sets others. */
const maxPatchedKeys = 4 * maxKeys;
const tooManyKeys = `must have at most ${maxKeys} keys`;

/** Up to 64 keys of 128 bytes with values of 512 bytes, without invisible characters. */
export const customMetadata = mapOf(metadataText(), 'string').refine(fitsInSecret, { error: tooManyKeys });

/** Result of a patch. Parts of it may be older than the rule about invisible characters. */
export const MergedMetadata = stringMap.refine(fitsInSecret, { error: tooManyKeys });

/** A merge patch of `customMetadata`: null removes a key. */
export const customMetadataPatch = mapOf(metadataText().nullable(), ['string', 'null']);

/**
 * Keys are checked here, because the check of a record's key type reports only that it is no map of strings.
 * @param type that of its values in the description of the API, which shows only what comes before the pipe
 */
function mapOf<Value extends z.ZodType>(value: Value, type: string | string[]) {
  const object = z
    .custom<Record<string, unknown>>(isJsonObject, { error: 'must be a map of strings' })
    .refine((given) => Object.keys(given).length <= maxPatchedKeys, { error: tooManyKeys });
  return orPairs(object)
    .pipe(z.record(z.string(), value, { error: 'must be a map of strings' }))
    .refine((given) => Object.keys(given).every((key) => Buffer.byteLength(key) <= maxKeyBytes), {
      error: `each key must be at most ${maxKeyBytes} bytes`,
    })
    .refine((given) => Object.entries(given).every(([key, text]) => text === null || isVisible(key)), {
      error: 'a key must not contain invisible characters',
    })
    .meta({
      type: 'object',
      additionalProperties: { type, ...describedText },
      maxProperties: maxKeys,
      propertyNames: { type: 'string', pattern: visiblePattern, maxLength: maxKeyBytes / 4 },
      description: `keys have at most ${maxKeyBytes} bytes in UTF-8, and values ${maxValueBytes}`,
    });
}

function metadataText() {
  return z
    .string()
    .refine((text) => Buffer.byteLength(text) <= maxValueBytes, {
      error: `each value must be at most ${maxValueBytes} bytes`,
    })
    .refine(isVisible, { error: 'a value must not contain invisible characters' })
    .meta(describedText);
}
