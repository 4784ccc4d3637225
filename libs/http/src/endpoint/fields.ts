import parseDuration from 'parse-duration';
import { z } from 'zod';

export { flag, integer, stringList, stringMap } from '@secrets/domain';

// Field types of request bodies (docs/conventions.md#16-field-types): booleans and integers also as strings,
// lists also as one comma-separated string, durations as seconds or `1h30m`.

const notDuration = 'must be a duration, as seconds or like 1h30m, not negative and at most 100 years';

/**
 * Seconds: a number, or text such as `90`, `90s`, `1h30m`. Not negative, whole: a part of a second is dropped, but less
 * than one becomes one, as 0 often stands for no limit.
 */
export const seconds = z
  .union([z.number(), z.string()], { error: notDuration })
  .transform((given, context) => {
    const value = toSeconds(given);
    if (value !== undefined) return value;
    context.addIssue({ code: 'custom', message: notDuration });
    return z.NEVER;
  });

/** Longest duration taken: a hundred years. */
const maxSeconds = 100 * 365 * 86_400;

function toSeconds(given: number | string): number | undefined {
  const text = String(given).trim();
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : durationIn(text);
  if (value === undefined || value < 0 || value > maxSeconds) return undefined;
  return value < 1 ? Math.ceil(value) : Math.floor(value);
}

function durationIn(text: string): number | undefined {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d|w))+$/.test(text)) return undefined;
  return parseDuration(text, 's') ?? undefined;
}
