import { integer, integerBetween, stringMap } from '@secrets/http';
import { z } from 'zod';
import { invisible, isVisible } from '../visible-text.ts';

const maxInt = 2_147_483_647;

/** The number of a version; 0 for the newest one. */
export const versionNumber = integerBetween(0, maxInt, 'must be a version number');

const existingVersion = integerBetween(1, maxInt, 'must be a version number, from 1');

/** Version numbers, also as one comma-separated string. */
export const versionList = z
  .preprocess(splitCommas, z.array(existingVersion, { error: 'must be a list of version numbers' }))
  .refine((given) => given.length > 0 && given.length <= 10_000, {
    error: 'must have between 1 and 10000 version numbers',
  })
  .meta({
    anyOf: [
      {
        type: 'array',
        items: { type: 'integer', minimum: 1, maximum: maxInt },
        minItems: 1,
        maxItems: 10_000,
      },
      { type: 'string', pattern: '^[1-9][0-9]{0,8}(?:,[1-9][0-9]{0,8})*$' },
    ],
  });

function splitCommas(given: unknown): unknown {
  if (typeof given === 'number') return [given];
  return typeof given === 'string' ? given.split(',').map((part) => part.trim()) : given;
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

/** Whether a secret may have so many keys of metadata. */
const fitsInSecret = (given: object): boolean => Object.keys(given).length <= maxKeys;
const tooManyKeys = `must have at most ${maxKeys} keys`;

/** Up to 64 keys of 128 bytes with values of 512 bytes, without invisible characters. */
export const customMetadata = mapOf(metadataText()).refine(fitsInSecret, { error: tooManyKeys });

/** What a patch results in: parts of it may be older than the rule about invisible characters. */
export const MergedMetadata = stringMap.refine(fitsInSecret, { error: tooManyKeys });

/** A merge patch of `customMetadata`: null removes a key. */
export const customMetadataPatch = mapOf(metadataText().nullable());

/** Keys are checked here, because the check of a record's key type reports only that it is no map of strings. */
function mapOf<Value extends z.ZodType>(value: Value) {
  return z
    .record(z.string(), value, { error: 'must be a map of strings' })
    .refine((given) => Object.keys(given).every((key) => Buffer.byteLength(key) <= maxKeyBytes), {
      error: `each key must be at most ${maxKeyBytes} bytes`,
    })
    .refine((given) => Object.entries(given).every(([key, text]) => text === null || isVisible(key)), {
      error: 'a key must not contain invisible characters',
    })
    .meta({
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
    .meta({ pattern: visiblePattern, maxLength: maxValueBytes / 4 });
}
