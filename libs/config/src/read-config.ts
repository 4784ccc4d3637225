import { z } from 'zod';

/** An invalid environment: one line per variable, with names and reasons, never values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Parses an environment with a zod schema. Empty variables count as absent.
 * @throws `ConfigError`, with the name of each invalid variable and the reason, never a value
 */
export function readConfig<Schema extends z.ZodType>(
  schema: Schema,
  env: Record<string, string | undefined>,
): z.infer<Schema> {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${reasonOf(issue, given)}`);
  throw new ConfigError(`invalid environment:\n${lines.join('\n')}`);
}

function reasonOf(issue: z.core.$ZodIssue, given: Record<string, unknown>): string {
  if (given[String(issue.path[0])] === undefined) return 'is required';
  return issue.message;
}

/** `on`, `off`, `true`, `false`, `1`, `0`. */
export const toggle = z
  .enum(['on', 'off', 'true', 'false', '1', '0'])
  .transform((word) => ['on', 'true', '1'].includes(word));

/** A TCP port; 0 means any free port. */
export const port = z.coerce.number().int().min(0).max(65_535);

/** A comma-separated list. Blanks around the parts, and empty parts, are dropped. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
