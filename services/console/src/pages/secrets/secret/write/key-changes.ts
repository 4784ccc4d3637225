import type { Base } from './base.ts';
import { removedKeys } from './removed-keys.ts';

/** The effect of a write on the top-level keys, without any value. */
export interface KeyChanges {
  added: readonly string[];
  changed: readonly string[];
  /** Keys that are written, although it is not known whether they exist or differ. */
  written: readonly string[];
  /** Undefined if it is not known which keys there are, and those that were not entered are removed. */
  removed: readonly string[] | undefined;
  /** Keys that stay as they are; undefined if it is not known which. */
  kept: readonly string[] | undefined;
}

/** Compares the data of a write with the version that it is based on. */
export function keyChanges(base: Base, data: Readonly<Record<string, unknown>>): KeyChanges {
  const removed = removedKeys(base, data);
  const given = Object.keys(data).filter((key) => base.replaces || data[key] !== null);
  const { keys, values } = base;
  if (keys === undefined) return { added: [], changed: [], written: given, removed, kept: undefined };
  const added = given.filter((key) => !keys.includes(key));
  const existing = given.filter((key) => keys.includes(key));
  if (values === undefined) {
    const kept = base.replaces ? [] : keys.filter((key) => !Object.hasOwn(data, key));
    return { added, changed: [], written: existing, removed, kept };
  }
  const isSame = (key: string) => JSON.stringify(values[key]) === JSON.stringify(data[key]);
  return {
    added,
    changed: existing.filter((key) => !isSame(key)),
    written: [],
    removed,
    kept: existing.filter(isSame),
  };
}
