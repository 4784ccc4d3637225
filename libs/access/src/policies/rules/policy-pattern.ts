/** The parsed path of a policy: `+` matches one segment, a trailing `*` any continuation. */
export interface PolicyPattern {
  /** As written, without leading slashes. */
  text: string;
  /** Everything before the trailing `*`, or the whole text if there is none. */
  stem: string;
  isPrefix: boolean;
  plusSegments: number;
  /** Index of the first `+` segment or of the trailing `*`; undefined for an exact path. */
  firstWildcard: number | undefined;
}

export function parsePattern(path: string): PolicyPattern {
  const text = path.replace(/^\/+/, '');
  const isPrefix = text.endsWith('*');
  const stem = isPrefix ? text.slice(0, -1) : text;
  const firstPlus = stem.search(plusSegment);
  const firstWildcard = firstPlus >= 0 ? firstPlus : isPrefix ? stem.length : undefined;
  const plusSegments = stem.match(plusSegment)?.length ?? 0;
  return { text, stem, isPrefix, plusSegments, firstWildcard };
}

/**
 * Orders patterns that match the same path, the strongest one first (docs/conventions/access.md#policies): an exact path;
 * then the pattern whose first wildcard comes later; then one without a trailing `*`; then fewer `+`; then the longer
 * one; then the one that sorts later.
 */
export function byPriority(a: PolicyPattern, b: PolicyPattern): number {
  return (
    (b.firstWildcard ?? Number.MAX_SAFE_INTEGER) - (a.firstWildcard ?? Number.MAX_SAFE_INTEGER) ||
    Number(a.isPrefix) - Number(b.isPrefix) ||
    a.plusSegments - b.plusSegments ||
    b.text.length - a.text.length ||
    (a.text < b.text ? 1 : -1)
  );
}

const plusSegment = /(?<![^/])\+(?![^/])/g;
