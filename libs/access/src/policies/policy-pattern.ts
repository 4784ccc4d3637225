/** The path of a policy, taken apart: `+` stands for one whole segment, a trailing `*` for any continuation. */
export interface PolicyPattern {
  /** As written, without slashes at its beginning. */
  text: string;
  /** Everything before the trailing `*`; the whole text when there is none. */
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
 * Orders patterns that match the same path, the stronger one first, as users of such policies know it: an exact path
 * beats any other; then the one whose first wildcard comes later; the one that does not end in `*`; the one with
 * fewer `+`; the longer one; the one that sorts later.
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

/** A regular expression for a pattern that holds `+`; each `+` takes one segment that is not empty. */
export function patternExpression({ stem, isPrefix }: PolicyPattern): RegExp {
  const segments = stem.split('/').map((segment) => (segment === '+' ? '[^/]+' : escaped(segment)));
  return new RegExp(`^${segments.join('/')}${isPrefix ? '' : '$'}`);
}

const plusSegment = /(?<![^/])\+(?![^/])/g;
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
