import { controlCharacters } from '@secrets/domain';
import { stringMap } from '@secrets/http';
import { z } from 'zod';

const withoutSlashes = new RegExp(`^[^/${controlCharacters}]+$`);

/** The name of an entity, a group or an alias. Shown as it was given, and compared without regard to letter case. */
export const identityName = named(z.string().trim());

/** The same in a path. Blanks around it are refused: the decision on the request was about another path. */
export const identityNameInPath = named(
  z.string().regex(/^\S(?:.*\S)?$/, 'must not be empty, or begin or end with a blank'),
).meta({ pattern: `^[^\\s\\uFEFF/\\\\${controlCharacters}]+$` });

function named(text: z.ZodString) {
  return text
    .min(1, 'must not be empty')
    .max(256, 'must have at most 256 characters')
    .regex(withoutSlashes, 'must not contain slashes or control characters')
    .meta({ pattern: `^[^\\s\\uFEFF/${controlCharacters}][^/${controlCharacters}]*$` });
}

/** The metadata of an entity or a group. */
export const identityMetadata = stringMap
  .refine((map) => Object.keys(map).length <= 64 && JSON.stringify(map).length <= 16_384, {
    error: 'must have at most 64 names and 16 KiB',
  })
  .meta({ maxProperties: 64 });
