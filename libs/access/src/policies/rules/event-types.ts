import { z } from 'zod';

/** Patterns of event types whose events a policy permits to receive, such as `kv*`. */
export const EventTypes = z
  .array(
    z.string().min(1, 'an event type must not be empty').max(100, 'an event type has at most 100 characters'),
  )
  .max(32, 'a path has at most 32 event types');

/** The event types of two rules with the same pattern: all of both. Undefined if neither has the capability `subscribe`. */
export function mergedEventTypes(
  a: readonly string[] | undefined,
  b: readonly string[] | undefined,
): readonly string[] | undefined {
  return a === undefined || b === undefined ? (a ?? b) : [...new Set([...a, ...b])];
}

/** Whether a text matches a pattern, in which `*` matches any characters. It never backtracks. */
export function matchesStars(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return text === pattern;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last))
    return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}
