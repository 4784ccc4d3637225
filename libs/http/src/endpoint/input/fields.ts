import parseDuration from 'parse-duration';
import { z } from 'zod';

export { flag, integer, stringList, stringMap } from '@secrets/domain';

// Field types of request bodies: docs/conventions.md#16-field-types.

const notDuration = 'must be a duration in seconds or like 1h30m, not negative and at most 100 years';

/**
 * Parses a duration, a number or text such as `90`, `90s` or `1h30m`, into whole seconds. Fractions are dropped, but a
 * value below 1 becomes 1, because 0 often means "no limit".
 */
export const seconds = z
  .union([z.number(), z.string()], { error: notDuration })
  .transform((input, context) => {
    const value = toSeconds(input);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: notDuration });
    return z.NEVER;
  });

/** A hundred years. */
const maxSeconds = 100 * 365 * 86_400;

function toSeconds(input: number | string): number | undefined {
  const text = String(input).trim();
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : parsedDuration(text);
  if (value === undefined || value < 0 || value > maxSeconds) return undefined;
  return value < 1 ? Math.ceil(value) : Math.floor(value);
}

function parsedDuration(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d|w))+$/.test(text)) return undefined;
  return parseDuration(text, 's') ?? undefined;
}
