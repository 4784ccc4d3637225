import type { Json } from '@secrets/domain';
import type { DestinationDescription } from '../description.ts';
import { isBuiltInTag } from './built-in-tags.ts';

/** Returns the custom tags after an update, which adds and replaces tags; null and `toRemove` remove them. */
export function mergedTags(
  present: Json | undefined,
  given: unknown,
  toRemove: readonly string[],
): Record<string, string> {
  const merged = new Map(Object.entries((present ?? {}) as Record<string, string>));
  for (const [key, value] of Object.entries((given ?? {}) as Record<string, string | null>)) {
    if (value === null) merged.delete(key);
    else merged.set(key, value);
  }
  for (const key of toRemove) merged.delete(key);
  return Object.fromEntries(merged);
}

/** Returns what is wrong with a destination's custom tags, one sentence each, which contains the tag's key but not its value. */
export function whyTagsRefused(
  { tagRule }: DestinationDescription,
  tags: Json | undefined,
  prefix: string,
): string[] {
  const entries = Object.entries((tags ?? {}) as Record<string, string>);
  const problems = entries.map(([key, value]) => {
    const reason = isBuiltInTag(key, prefix) ? 'is set by the service itself' : tagRule.check(key, value);
    return reason === undefined ? undefined : `custom_tags: ${JSON.stringify(key.slice(0, 128))} ${reason}`;
  });
  const tooMany =
    entries.length > tagRule.maxCustomTags
      ? `custom_tags: at most ${tagRule.maxCustomTags} are allowed`
      : undefined;
  return [...problems, tooMany].filter((problem) => problem !== undefined);
}
