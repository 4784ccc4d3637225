/** Folders whose objects have case-insensitive names or UUIDs, which follow the folder in a path. */
const folders = [
  'identity/entity/id',
  'identity/entity/name',
  'identity/entity-alias/id',
  'identity/group/id',
  'identity/group/name',
  'identity/group-alias/id',
  'sys/policies/acl',
  'sys/policy',
  'sys/remount/status',
].map((folder) => folder.split('/'));

const mayHaveName = /^(?:identity|sys|auth)\//;

/** Returns the index of the segment at which a case-insensitive name begins; undefined if the path has none. */
export const nameIndex = (path: string): number | undefined =>
  mayHaveName.test(path) ? nameIndexes(path.split('/'), 0, (one, other) => one === other)[0] : undefined;

/**
 * Returns each index at which a case-insensitive name can begin in a path that a policy pattern matches. The path may begin with
 * namespaces.
 */
export function nameIndexesOf(pattern: string): number[] {
  const segments = pattern.split('/');
  const matches = (written: string, segment: string) => written === '+' || written === segment;
  return [...new Set(segments.flatMap((_, start) => nameIndexes(segments, start, matches)))];
}

function nameIndexes(
  segments: readonly string[],
  start: number,
  matches: (written: string, segment: string) => boolean,
): number[] {
  const isAt = (at: number, segment: string) => at < segments.length && matches(segments[at]!, segment);
  const last = segments.length - 1;
  const isRole = last >= start + 3 && isAt(start, 'auth') && isAt(last - 1, 'role'); // auth/<mount>/role/<name>
  return [
    ...folders
      .filter((folder) => folder.every((segment, at) => isAt(start + at, segment)))
      .map((folder) => start + folder.length)
      .filter((at) => at <= last),
    ...(isRole ? [last] : []),
  ];
}

/** Returns a path or a pattern with the segments from an index on in lower case. */
export function foldedFrom(path: string, index: number): string {
  const segments = path.split('/');
  return [...segments.slice(0, index), ...segments.slice(index).map(folded)].join('/');
}

/** Lower case, without letters whose lower case depends on their position in a word or on the locale of the database. */
const folded = (text: string): string => text.toLowerCase().replaceAll('i\u0307', 'i').replaceAll('ς', 'σ');
