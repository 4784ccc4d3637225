import { integer } from '@secrets/http';
import { z } from 'zod';
import { isStorable } from '../storable-text.ts';

const maxInt = 2_147_483_647;

/** The number of a version; 0 for the newest one. */
export const versionNumber = integer.refine((given) => given >= 0 && given <= maxInt, {
  error: 'must be a version number',
});

const existingVersion = versionNumber.refine((given) => given > 0, {
  error: 'must be a version number, from 1',
});

/** Version numbers, also as one comma-separated string. */
export const versionList = z
  .preprocess(splitCommas, z.array(existingVersion, { error: 'must be a list of version numbers' }))
  .refine((given) => given.length > 0 && given.length <= 10_000, {
    error: 'must have between 1 and 10000 version numbers',
  });

function splitCommas(given: unknown): unknown {
  if (typeof given === 'number') return [given];
  return typeof given === 'string' ? given.split(',').map((part) => part.trim()) : given;
}

/** The version that a check-and-set write expects to be current. */
const checkAndSet = integer.refine((given) => Math.abs(given) <= maxInt, {
  error: 'must be a version number',
});

export const WriteOptions = z.object({ cas: checkAndSet.nullish() }).nullish();

const maxKeys = 64;
const maxKeyBytes = 128;
const maxValueBytes = 512;

/** Up to 64 keys of 128 bytes with values of 512 bytes. */
export const customMetadata = mapOf(metadataText()).refine((given) => Object.keys(given).length <= maxKeys, {
  error: `must have at most ${maxKeys} keys`,
});

/** A merge patch of `customMetadata`: null removes a key. */
export const customMetadataPatch = mapOf(metadataText().nullable());

/** Keys are checked here, because the check of a record's key type reports only that it is no map of strings. */
function mapOf<Value extends z.ZodType>(value: Value) {
  return z
    .record(z.string(), value, { error: 'must be a map of strings' })
    .refine((given) => Object.keys(given).every((key) => Buffer.byteLength(key) <= maxKeyBytes), {
      error: `each key must be at most ${maxKeyBytes} bytes`,
    })
    .refine((given) => Object.keys(given).every(isStorable), { error: 'a key must not contain NUL' });
}

function metadataText() {
  return z
    .string()
    .refine((text) => Buffer.byteLength(text) <= maxValueBytes, {
      error: `each value must be at most ${maxValueBytes} bytes`,
    })
    .refine(isStorable, { error: 'a value must not contain NUL' });
}
