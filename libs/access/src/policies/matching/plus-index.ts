import type { PolicyPattern } from '../rules/policy-pattern.ts';

/** Finds the strongest of some patterns with `+` that matches a path. */
export interface PlusIndex<Entry> {
  /** The largest number of comparisons that one search can take. */
  readonly maxSteps: number;
  /** Comparisons that all searches together have taken. */
  readonly steps: number;
  find(path: string): Entry | undefined;
}

interface Ranked<Entry> extends Segments {
  entry: Entry;
  /** 0 is the strongest. */
  rank: number;
}

/** A pattern, divided where it has a `+`. */
interface Segments {
  count: number;
  isPrefix: boolean;
  first: string;
  /** The texts between two `+`, with the indexes of their first segment and of the one after their last. */
  literals: readonly { text: string; from: number; to: number }[];
}

/** Patterns with as many segments, or as many at least for prefixes, the strongest first. */
interface Bucket<Entry> {
  byFirst: Map<string, Ranked<Entry>[]>;
  /** Those that begin with `+`. */
  others: Ranked<Entry>[];
}

/**
 * Indexes patterns that are in order of priority, the strongest first. A search looks only at those with the right
 * number of segments and the first segment of the path, and compares what is written between two `+` at once.
 */
export function plusIndex<Entry extends { pattern: PolicyPattern }>(
  entries: readonly Entry[],
): PlusIndex<Entry> {
  const ranked = entries.map((entry, rank) => ({ entry, rank, ...segmentsOf(entry.pattern) }));
  const exact = bucketsOf(ranked.filter(({ isPrefix }) => !isPrefix));
  const prefixes = [...bucketsOf(ranked.filter(({ isPrefix }) => isPrefix))];
  let steps = 0;
  const find = (path: string): Entry | undefined => {
    const given = pathSegments(path);
    const first = path.slice(0, given.ends[0]);
    let best: Ranked<Entry> | undefined;
    const search = (among: readonly Ranked<Entry>[] = []): void => {
      for (const one of among) {
        if (best !== undefined && best.rank < one.rank) return;
        steps += 1;
        if (matches(one, given)) best = one;
      }
    };
    const searchBucket = ({ byFirst, others }: Bucket<Entry>): void => {
      search(byFirst.get(first));
      search(others);
    };
    const sameCount = exact.get(given.ends.length);
    if (sameCount !== undefined) searchBucket(sameCount);
    for (const [count, bucket] of prefixes) if (count <= given.ends.length) searchBucket(bucket);
    steps += given.steps;
    return best?.entry;
  };
  return {
    maxSteps: ranked.reduce((sum, { literals }) => sum + 1 + literals.length, 0),
    get steps() {
      return steps;
    },
    find: entries.length === 0 ? () => undefined : find,
  };
}

function segmentsOf({ stem, isPrefix }: PolicyPattern): Segments {
  const segments = stem.split('/');
  const plus = segments.flatMap((segment, at) => (segment === '+' ? [at] : []));
  const literals = [-1, ...plus].flatMap((before, at) => {
    const [from, to] = [before + 1, plus[at] ?? segments.length];
    return from < to ? [{ text: segments.slice(from, to).join('/'), from, to }] : [];
  });
  return { count: segments.length, isPrefix, first: segments[0]!, literals };
}

function bucketsOf<Entry>(ranked: readonly Ranked<Entry>[]): Map<number, Bucket<Entry>> {
  const buckets = new Map<number, Bucket<Entry>>();
  for (const one of ranked) {
    const bucket = buckets.get(one.count) ?? { byFirst: new Map(), others: [] };
    buckets.set(one.count, bucket);
    const same = one.first === '+' ? bucket.others : bucket.byFirst.get(one.first);
    if (same === undefined) bucket.byFirst.set(one.first, [one]);
    else same.push(one);
  }
  return buckets;
}

/** A path, with the places where its segments end. */
interface PathSegments {
  path: string;
  ends: readonly number[];
  steps: number;
}

function pathSegments(path: string): PathSegments {
  const ends: number[] = [];
  for (let from = 0; ; ) {
    const slash = path.indexOf('/', from);
    const end = slash < 0 ? path.length : slash;
    ends.push(end);
    if (slash < 0) return { path, ends, steps: 0 };
    from = slash + 1;
  }
}

const startOf = (ends: readonly number[], at: number): number => (at === 0 ? 0 : ends[at - 1]! + 1);

/**
 * Whether a pattern matches a path with as many segments, or at least as many if it is a prefix. A `+` also matches an
 * empty segment.
 */
function matches({ literals, isPrefix, count }: Segments, given: PathSegments): boolean {
  const { path, ends } = given;
  for (const { text, from, to } of literals) {
    given.steps += 1;
    const start = startOf(ends, from);
    if (!path.startsWith(text, start)) return false;
    const isOpen = isPrefix && to === count;
    if (!isOpen && start + text.length !== ends[to - 1]) return false;
  }
  return true;
}
