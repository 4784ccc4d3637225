import { importPath } from '@secrets/destinations';
import { invalid, type ListedExternalSecret, type StoreState } from '@secrets/domain';
import type { TakenName } from '@secrets/sync-entries';

/** Results for one external secret. */
export const importResults = [
  'new',
  'same_value',
  'other_value',
  'unreadable',
  'value_needed',
  'not_ours',
  'associated',
  'absent',
  'not_permitted',
  'name_not_possible',
] as const;
type Result = (typeof importResults)[number];

/** One line of an import. */
export interface ImportLine {
  externalName: string;
  /** The path in the mount; null if the name has none, or is associated. */
  path: string | null;
  result: Result;
  /** Why, as a sentence; null where the result says it. */
  reason: string | null;
}

/** An external secret that an import has found, as the list shows it if it was listed, and the entry that has its name. */
export interface Candidate {
  name: string;
  listed?: ListedExternalSecret;
  entry: TakenName | undefined;
}

/** An external secret that may be imported to a path. */
export interface Mapped {
  name: string;
  path: string;
  /** Whether the list shows that its value cannot be read. */
  isHidden?: boolean;
}

/**
 * Maps each external secret to its path, except those that are known not to be imported, which are returned as lines. Throws
 * `Problem` `invalid`, which names both, if two have one path.
 */
export function mapCandidates(
  template: Parameters<typeof importPath>[0],
  candidates: readonly Candidate[],
): (ImportLine | Mapped)[] {
  return mapEach(template, candidates, new Map(), (one, other) => {
    throw invalid(`path: ${other} and ${one.name} would both become ${one.path}`);
  });
}

/**
 * Maps each external secret to its path as `mapCandidates`; the second one of two with one path becomes a line.
 * @param used the paths that were used before, and for which external secrets
 */
export const mapDistinct = (
  template: Parameters<typeof importPath>[0],
  candidates: readonly Candidate[],
  used: ReadonlyMap<string, string>,
): (ImportLine | Mapped)[] =>
  mapEach(template, candidates, used, ({ name, path }, other) => ({
    externalName: name,
    path: null,
    result: 'name_not_possible',
    reason: `the import has used its path ${path} for ${other}`,
  }));

/** The paths of those external secrets that have one. */
export const pathsOf = (
  template: Parameters<typeof importPath>[0],
  candidates: readonly Candidate[],
): string[] =>
  candidates.map((one) => mapCandidate(template, one)).flatMap((one) => ('result' in one ? [] : [one.path]));

function mapEach(
  template: Parameters<typeof importPath>[0],
  candidates: readonly Candidate[],
  used: ReadonlyMap<string, string>,
  onUsed: (one: Mapped, other: string) => ImportLine,
): (ImportLine | Mapped)[] {
  const nameOf = new Map(used);
  return candidates.map((candidate) => {
    const one = mapCandidate(template, candidate);
    if ('result' in one) return one;
    const other = nameOf.get(one.path);
    if (other !== undefined) return onUsed(one, other);
    nameOf.set(one.path, one.name);
    return one;
  });
}

function mapCandidate(
  template: Parameters<typeof importPath>[0],
  { name, listed, entry }: Candidate,
): ImportLine | Mapped {
  const line = { externalName: name, path: null };
  if (entry !== undefined)
    return { ...line, result: 'associated', reason: `with ${entry.secretName} in mount ${entry.mount}` };
  if (listed?.belongs === 'other') return { ...line, result: 'not_ours', reason: ofAnother };
  if (listed?.belongs === 'provider') return { ...line, result: 'not_ours', reason: ofProvider };
  const found = importPath(template, name);
  if ('refusal' in found) return { ...line, result: 'name_not_possible', reason: found.refusal };
  if (found.path.endsWith('/'))
    return { ...line, result: 'name_not_possible', reason: 'the path ends with a slash' };
  return { name, path: found.path, ...(listed?.isReadable === false ? { isHidden: true } : {}) };
}

const ofAnother = 'another destination has marked it';
const ofProvider = 'the provider manages it';
const hidden = 'the store does not return the value';

/** The line for an external secret whose path cannot be that of a secret. */
export const notPossible = ({ name, path }: Mapped, reason: string): ImportLine => ({
  externalName: name,
  path,
  result: 'name_not_possible',
  reason,
});

/**
 * The line for an external secret whose value the store does not return. If its secret is to be associated, that waits for the
 * first version.
 */
export function hiddenLine({ name, path }: Mapped, isNew: boolean, associates: boolean): ImportLine {
  const line = { externalName: name, path };
  if (associates && isNew) return { ...line, result: 'value_needed', reason: null };
  return { ...line, result: 'unreadable', reason: isNew ? hidden : `${hidden}, and its path has one` };
}

/** The line for an external secret that a worker has looked at. */
export function lookedAtLine(
  { name, path }: Mapped,
  isNew: boolean,
  { state, reason }: StoreState,
): ImportLine {
  const line = { externalName: name, path, reason: null };
  const known: Record<StoreState['state'], ImportLine> = {
    absent: { ...line, result: 'absent' },
    equal: { ...line, result: 'same_value' },
    different: { ...line, result: isNew ? 'new' : 'other_value' },
    another_destination: { ...line, result: 'not_ours', reason: ofAnother },
    provider: { ...line, result: 'not_ours', reason: ofProvider },
    foreign: { ...line, result: 'unreadable', reason: 'the worker is of an earlier version' },
    unknown: { ...line, result: 'unreadable', reason },
  };
  return known[state];
}

interface Cut {
  shown: ImportLine[];
  /** The name after which a later request continues; undefined if nothing was cut. */
  last: string | undefined;
}

/**
 * Returns the lines before the first external secret that was not looked at. The list is in the order of the names, and of those
 * that are looked at, the first one always is.
 */
export function cutAtGap(lines: readonly (ImportLine | Mapped)[]): Cut {
  const gap = lines.findIndex((line) => !('result' in line));
  const shown = lines
    .slice(0, gap < 0 ? undefined : gap)
    .filter((line): line is ImportLine => 'result' in line);
  return { shown, last: gap < 0 ? undefined : shown.at(-1)?.externalName };
}
