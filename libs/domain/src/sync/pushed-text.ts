import { canonicalJson } from '../json/canonical-json.ts';

/** Returns the text of an external secret that holds a single key: a string unchanged, anything else as JSON. */
export const pushedText = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/**
 * Returns a text that is equal for equal values, to be hashed. JSON that the service writes is equal in any order of its names; a
 * string is only equal to itself, whatever it contains.
 */
export const comparedText = (value: unknown): string =>
  typeof value === 'object' ? canonicalJson(value) : pushedText(value);

/** The purpose of the keyed hashes of values that are pushed, or about to be. */
export const pushedValuePurpose = 'pushed value';
