import { controlCharacters } from '@secrets/domain';
import { stringMap } from '@secrets/http';
import { z } from 'zod';

const withoutSlashes = new RegExp(`^[^/${controlCharacters}]+$`);

/** The name of an entity or a group. Case matters. */
export const identityName = z
  .string()
  .trim()
  .min(1, 'must not be empty')
  .max(256, 'must have at most 256 characters')
  .regex(withoutSlashes, 'must not contain slashes or control characters')
  .meta({ pattern: `^[^\\s\\uFEFF/${controlCharacters}][^/${controlCharacters}]*$` });

/** The metadata of an entity or a group. */
export const identityMetadata = stringMap
  .refine((map) => Object.keys(map).length <= 64 && JSON.stringify(map).length <= 16_384, {
    error: 'must have at most 64 names and 16 KiB',
  })
  .meta({ maxProperties: 64 });
