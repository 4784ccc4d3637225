/** The version that a write replaces or changes. */
interface Written {
  /** The top-level keys of the version before; undefined if they are not known. */
  keys: readonly string[] | undefined;
  /** Whether the data replaces that version. Otherwise it is a merge patch (RFC 7386), which removes a key by null. */
  replaces: boolean;
}

type Values = Record<string, unknown>;

/** Returns the keys that a write removes; undefined if they cannot be known. */
export function removedKeys({ keys, replaces }: Written, data: Values): readonly string[] | undefined {
  if (replaces) return keys?.filter((key) => !Object.hasOwn(data, key));
  return Object.keys(data).filter((key) => data[key] === null && keys?.includes(key) !== false);
}

const textOf = (values: Values, key: string): string | undefined =>
  Object.hasOwn(values, key) ? JSON.stringify(values[key]) : undefined;

/** Returns the keys whose values differ. */
const changedKeys = (before: Values, after: Values): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (key) => textOf(before, key) !== textOf(after, key),
  );

/**
 * Applies the changes from `base` to `mine` to `theirs`. Returns the result, and the keys that both have changed,
 * differently: mine are kept.
 */
export function mergeChanges(
  base: Values,
  mine: Values,
  theirs: Values,
): { merged: Values; contested: string[] } {
  const changed = changedKeys(base, mine);
  const result = new Map(Object.entries(theirs));
  for (const key of changed) {
    if (Object.hasOwn(mine, key)) result.set(key, mine[key]);
    else result.delete(key);
  }
  const differ = new Set(changedKeys(mine, theirs));
  const others = changedKeys(base, theirs);
  const contested = changed.filter((key) => others.includes(key) && differ.has(key));
  return { merged: Object.fromEntries(result), contested };
}
