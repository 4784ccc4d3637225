import type { Version } from './version-state.ts';

/** Something that can be done with versions. */
export interface VersionOperation {
  verb: 'delete' | 'undelete' | 'destroy';
  label: string;
  appliesTo(version: Version): boolean;
}

export const versionOperations: readonly VersionOperation[] = [
  { verb: 'delete', label: 'Delete', appliesTo: ({ state }) => state === 'readable' },
  { verb: 'undelete', label: 'Undelete', appliesTo: ({ state }) => state === 'deleted' },
  { verb: 'destroy', label: 'Destroy', appliesTo: ({ state }) => state !== 'destroyed' },
];

const list = (numbers: readonly number[]): string =>
  [...numbers].sort((one, other) => one - other).join(', ');

/**
 * Says what a change does, and to how much. `destinations` is the number of those to which the secret is synced;
 * undefined if that is not known.
 */
export function consequence(
  verb: VersionOperation['verb'],
  numbers: readonly number[],
  destinations: number | undefined,
): string {
  const which = numbers.length === 1 ? `Version ${list(numbers)}` : `Versions ${list(numbers)}`;
  const sync =
    destinations === undefined || destinations === 0
      ? ''
      : ` ${destinations} ${destinations === 1 ? 'destination follows' : 'destinations follow'}: each receives the newest version that is then readable and, if there is none, the external secret is removed.`;
  if (verb === 'delete') return `${which} can no longer be read, until undeleted.${sync}`;
  if (verb === 'undelete') return `${which} can be read again.${sync}`;
  return `${which}: the values are erased for good. This cannot be undone.${sync}`;
}
