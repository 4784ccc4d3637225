import type { z } from 'zod';

/**
 * Describes each field in a phrase: what it means, and what follows from leaving it out. The API description and the forms of the
 * console show it.
 */
export const withHelp = <Fields extends Record<string, z.ZodType>>(
  fields: Fields,
  help: Readonly<Record<keyof Fields, string>>,
): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, field.describe(help[name as keyof Fields])]),
  ) as Fields;
