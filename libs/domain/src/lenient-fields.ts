import { z } from 'zod';

// Field types of request bodies (docs/conventions.md#16-field-types): booleans and integers may be strings, and lists may be
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

/** A list of strings; also as one comma-separated string. Blanks around the parts, and empty parts, are dropped. */
export const stringList = z
  .union([z.array(z.string()), z.string()], {
    error: 'must be a list of strings or one comma-separated string',
  })
  .transform((given) =>
    (typeof given === 'string' ? given.split(',') : given)
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );

/** A map of strings. */
export const stringMap = z.record(z.string(), z.string(), { error: 'must be a map of strings' });
