import type { SecretMetadata } from '../../queries.ts';

/** A version of a secret, and what can be done with it. */
export interface Version {
  number: number;
  createdTime: string;
  state: 'readable' | 'deleted' | 'destroyed';
  /** When it will be deleted, for a readable one. */
  deletedAt: string | undefined;
}

/** The versions, newest first. `now` in milliseconds. */
export function versionsOf(metadata: Pick<SecretMetadata, 'versions'>, now: number): Version[] {
  return Object.entries(metadata.versions)
    .map(([number, { created_time: createdTime, deletion_time: deletedAt, destroyed }]) => {
      const isDeleted = deletedAt !== '' && Date.parse(deletedAt) <= now;
      const state = destroyed
        ? ('destroyed' as const)
        : isDeleted
          ? ('deleted' as const)
          : ('readable' as const);
      const willBe = state === 'readable' && deletedAt !== '' ? deletedAt : undefined;
      return { number: Number(number), createdTime, state, deletedAt: willBe };
    })
    .sort((one, other) => other.number - one.number);
}

/** The difference between two versions in one key. */
export type Difference = 'same' | 'changed' | 'added' | 'removed';

/** Compares the values of two versions, the older one first, and returns no value. */
export function differencesOf(
  older: Record<string, unknown>,
  newer: Record<string, unknown>,
): Record<string, Difference> {
  const keys = [...new Set([...Object.keys(older), ...Object.keys(newer)])];
  const differenceOf = (key: string): Difference => {
    if (!Object.hasOwn(older, key)) return 'added';
    if (!Object.hasOwn(newer, key)) return 'removed';
    return JSON.stringify(older[key]) === JSON.stringify(newer[key]) ? 'same' : 'changed';
  };
  return Object.fromEntries(keys.map((key) => [key, differenceOf(key)]));
}
