import { controlCharacters, withoutControl } from '../fields/patterns.ts';

/** The paths that a rule matches: segments, of which `+` is any one, and after the last one any text if it is open. */
export interface RulePattern {
  segments: readonly string[];
  /** Whether the pattern ends with `*`: the last segment is then the beginning of one. */
  isOpen: boolean;
}

/** Maximum size of the pattern of a rule in bytes. */
const maxPatternBytes = 512;

const segment = `(?:\\+|[^/*+${controlCharacters}]+)`;
/** For the description of the API: a pattern. */
export const rulePattern = {
  pattern: `^(?:${segment}(?:/${segment})*(?:/?\\*)?|\\*)$`,
  maxLength: maxPatternBytes / 4,
  description: `at most ${maxPatternBytes} bytes in UTF-8`,
};

/** Why a text cannot be the pattern of a rule; undefined if it can. */
export function whyNoPattern(text: string): string | undefined {
  if (text === '') return 'must not be empty; write * to match everything';
  if (Buffer.byteLength(text) > maxPatternBytes) return `must have at most ${maxPatternBytes} bytes`;
  if (!withoutControl.test(text)) return 'must not contain control characters';
  const { segments, isOpen } = parsePattern(text);
  if (segments.some((segment) => segment.includes('*'))) return 'must have * only at its end';
  if (segments.some((segment) => segment !== '+' && segment.includes('+')))
    return 'must have + only as a whole segment';
  const written = isOpen ? segments.slice(0, -1) : segments;
  if (written.includes('')) return 'must not begin or end with a slash or contain two in a row';
  return undefined;
}

/** Parses the pattern of a rule, such as `team/+/db/*` (docs/conventions/rules.md#paths). */
export function parsePattern(text: string): RulePattern {
  const isOpen = text.endsWith('*');
  return { segments: (isOpen ? text.slice(0, -1) : text).split('/'), isOpen };
}

/** Whether a pattern matches the path of a secret. */
export function matchesPattern({ segments, isOpen }: RulePattern, path: string): boolean {
  const given = path.split('/');
  if (isOpen ? given.length < segments.length : given.length !== segments.length) return false;
  const last = segments.length - 1;
  return segments.every((segment, at) => {
    if (segment === '+') return true;
    return isOpen && at === last ? given[at]!.startsWith(segment) : given[at] === segment;
  });
}

/** The whole literal segments that a pattern begins with, joined; empty if it begins with another one. */
export function literalBeginning({ segments, isOpen }: RulePattern): string {
  const whole = isOpen ? segments.slice(0, -1) : segments;
  const end = whole.indexOf('+');
  return whole.slice(0, end < 0 ? undefined : end).join('/');
}

/** The beginnings of the patterns that can match a path: the empty one, and those with each number of its segments. */
export function beginningsOf(path: string): string[] {
  const beginnings = [''];
  for (let end = path.indexOf('/'); end !== -1 && end <= maxPatternBytes; end = path.indexOf('/', end + 1))
    beginnings.push(path.slice(0, end));
  if (path.length <= maxPatternBytes) beginnings.push(path);
  return beginnings;
}

/** The secrets of a mount that a rule is about. */
export interface RuleMatch {
  path: string;
  exclude: readonly string[];
  /** Custom metadata that a secret must have. */
  metadataMatch: Readonly<Record<string, string>>;
}

/** Whether a rule is about the path of a secret, whatever its metadata. */
export function matchesPaths(
  { path, exclude }: Pick<RuleMatch, 'path' | 'exclude'>,
  secretPath: string,
): boolean {
  const matches = (pattern: string) => matchesPattern(parsePattern(pattern), secretPath);
  return matches(path) && !exclude.some(matches);
}

/** Whether a rule is about a secret. */
export function matchesRule(
  rule: RuleMatch,
  secret: { path: string; customMetadata: Readonly<Record<string, string>> | null },
): boolean {
  if (!matchesPaths(rule, secret.path)) return false;
  const metadata = new Map(Object.entries(secret.customMetadata ?? {}));
  return Object.entries(rule.metadataMatch).every(([key, value]) => metadata.get(key) === value);
}

/** Between which texts, in the order of bytes, the paths are that a pattern can match; the second one is excluded. */
export function rangeOf({ segments, isOpen }: RulePattern): { from: string; before: string } {
  const plus = segments.indexOf('+');
  const from =
    plus < 0
      ? segments.join('/')
      : segments
          .slice(0, plus)
          .map((one) => `${one}/`)
          .join('');
  return { from, before: plus < 0 && !isOpen ? `${from}\u0001` : `${from}\u{10FFFF}` };
}
