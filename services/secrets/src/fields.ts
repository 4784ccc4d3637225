import { flag, integer, seconds } from '@secrets/http';
import { z } from 'zod';
import { isStorable } from './storable-text.ts';

const maxInt = 2_147_483_647;

/** A version's number; 0 stands for the newest one. */
export const versionNumber = integer.refine((given) => given >= 0 && given <= maxInt, {
  error: 'must be a version number',
});

const oneVersion = versionNumber.refine((given) => given > 0, { error: 'must be a version number, from 1' });

/** Numbers of versions; also as one comma-separated string. */
export const versionList = z
  .preprocess(splitCommas, z.array(oneVersion, { error: 'must be a list of version numbers' }))
  .refine((given) => given.length > 0 && given.length <= 10_000, {
    error: 'must hold 1 to 10000 version numbers',
  });

function splitCommas(given: unknown): unknown {
  if (typeof given === 'number') return [given];
  return typeof given === 'string' ? given.split(',').map((part) => part.trim()) : given;
}

/** A number that a check-and-set write compares with the current version. */
export const checkAndSet = integer.refine((given) => Math.abs(given) <= maxInt, {
  error: 'must be a version number',
});

export const description = z.string().max(2_048).refine(isStorable, { error: 'must not hold NUL' });

/** What is kept of old versions and asked of new ones; of a mount, or of one secret. */
export const retentionFields = {
  max_versions: integer
    .refine((given) => given >= 0 && given <= 10_000, { error: 'must be from 0 to 10000' })
    .optional(),
  cas_required: flag.optional(),
  delete_version_after: seconds.optional(),
};

const maxKeys = 64;
const maxKeyBytes = 128;
const maxValueBytes = 512;

/** A map of texts that describes a secret; at most 64 keys of 128 bytes with values of 512 bytes. */
export const customMetadata = mapOf(metadataText()).refine((given) => Object.keys(given).length <= maxKeys, {
  error: `must have at most ${maxKeys} keys`,
});

/** The same as a merge patch: null removes a key. */
export const customMetadataPatch = mapOf(metadataText().nullable());

/** The keys are looked at here, as a record's own check of them says only that something is no map of strings. */
function mapOf<Value extends z.ZodType>(value: Value) {
  return z
    .record(z.string(), value, { error: 'must be a map of strings' })
    .refine((given) => Object.keys(given).every((key) => Buffer.byteLength(key) <= maxKeyBytes), {
      error: `each key must be at most ${maxKeyBytes} bytes`,
    })
    .refine((given) => Object.keys(given).every(isStorable), { error: 'a key must not hold NUL' });
}

function metadataText() {
  return z
    .string()
    .refine((text) => Buffer.byteLength(text) <= maxValueBytes, {
      error: `each value must be at most ${maxValueBytes} bytes`,
    })
    .refine(isStorable, { error: 'a value must not hold NUL' });
}

/** Options of a write. */
export const WriteOptions = z.object({ cas: checkAndSet.nullish() }).nullish();
