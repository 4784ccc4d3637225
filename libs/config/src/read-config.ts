import { z } from 'zod';

/** A bad environment: one line a variable, names and reasons, never values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Parses an environment with a zod schema. Empty variables count as absent. Throws `ConfigError` that names each
 * bad variable and the reason, and never shows a value.
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
  throw new ConfigError(`the environment is not usable:\n${lines.join('\n')}`);
}

function reasonOf(issue: z.core.$ZodIssue, given: Record<string, unknown>): string {
  if (given[String(issue.path[0])] === undefined) return 'is required';
  return issue.message;
}

/** `on`, `off`, `true`, `false`, `1`, `0`. */
export const toggle = z
  .enum(['on', 'off', 'true', 'false', '1', '0'])
  .transform((word) => ['on', 'true', '1'].includes(word));

/** A TCP port; 0 asks for any free one. */
export const port = z.coerce.number().int().min(0).max(65_535);

/** A comma-separated list; blanks around the parts are dropped. */
export const commaList = z.string().transform((text) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== ''),
);
