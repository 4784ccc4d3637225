import {
  canonicalValue,
  destinationType,
  type Json,
  mapOfPairs,
  seconds,
  trimSlashes,
} from '@secrets/domain';
import type { Comparisons } from './comparisons.ts';

/**
 * Whether a rule lists a value. A list that is written as one string is listed if each of its parts is: otherwise
 * `team-*` would also match `team-a,admin`.
 */
export function isListed(values: readonly Json[], given: Json, comparisons: Comparisons): boolean {
  if (values.length === 0 || values.some((value) => comparisons.isEqual(value, given))) return true;
  if (typeof given !== 'string') return false;
  return comparisons.split(given).every((part) => values.some((value) => matches(value, part, comparisons)));
}

/**
 * Whether a rule denies a value, in whichever form a service accepts it: numbers, booleans and durations as text, one
 * item of a list, other letter case, slashes around it, the alternative name of a type, a map as pairs.
 */
export function isDenied(values: readonly Json[], given: Json, comparisons: Comparisons): boolean {
  if (values.length === 0) return true;
  const map = mapOfPairs(given) ?? given;
  return (
    values.some((value) => comparisons.isEqual(mapOfPairs(value) ?? value, map)) ||
    itemsOf(given, comparisons).some((item) => isSameAsOne(values, item, comparisons))
  );
}

function isSameAsOne(values: readonly Json[], given: Json, comparisons: Comparisons): boolean {
  const [texts, meanings] = [textsOf(given), meaningsOf(given)];
  return values.some((denied) => {
    if (comparisons.isEqual(denied, given)) return true;
    const patterns = textsOf(denied);
    if (texts.some((text) => patterns.some((pattern) => matches(pattern, text, comparisons)))) return true;
    return meanings.length > 0 && meaningsOf(denied).some((meaning) => meanings.includes(meaning));
  });
}

/** Text may begin and end with `*`, which matches any text. */
function matches(value: Json, given: string, comparisons: Comparisons): boolean {
  if (typeof value !== 'string') return false;
  const [begins, ends] = [value.startsWith('*'), value.endsWith('*')];
  const text = value.slice(begins ? 1 : 0, ends && value.length > 1 ? -1 : undefined);
  if (begins && ends) return comparisons.includes(given, text);
  if (begins) return given.endsWith(text);
  return ends ? given.startsWith(text) : given === text;
}

function itemsOf(given: Json, comparisons: Comparisons): readonly Json[] {
  comparisons.take(1);
  if (Array.isArray(given)) return [given, ...given.flatMap((item) => itemsOf(item, comparisons))];
  return typeof given === 'string' && given.includes(',') ? [given, ...comparisons.split(given)] : [given];
}

const isScalar = (value: Json): boolean => typeof value !== 'object' || value === null;

function textsOf(value: Json): string[] {
  const text = String(value).trim().toLowerCase();
  return isScalar(value)
    ? [...new Set([text, trimSlashes(text), destinationType(text).toLowerCase(), canonicalValue(text)])]
    : [];
}

/**
 * Returns the readings of a value as a boolean and as a duration, where it is one, for example `true` and `1 seconds`.
 */
function meaningsOf(value: Json): string[] {
  if (!isScalar(value)) return [];
  const flag = flags[String(value).trim().toLowerCase()];
  const duration = seconds.safeParse(value).data;
  return [...(flag === undefined ? [] : [flag]), ...(duration === undefined ? [] : [`${duration} seconds`])];
}

const flags: Partial<Record<string, string>> = { 1: 'true', 0: 'false', true: 'true', false: 'false' };
