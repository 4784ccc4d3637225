/**
 * A name with its capital letters replaced, as the provider compares names. Only letters that map to each other are
 * replaced: the Kelvin sign, which `toLowerCase` turns into a `k`, is another letter to the provider, and a resource group
 * may contain it.
 */
export const folded = (name: string): string =>
  isAscii.test(name) ? name.toLowerCase() : Array.from(name, foldedLetter).join('');

export const isSameName = (one: string, other: string): boolean => folded(one) === folded(other);

/** Whether a list contains a name. */
export const includesName = (names: readonly string[], name: string): boolean =>
  names.some((candidate) => isSameName(candidate, name));

/** Those of some names that a list contains. Reads each name once, instead of comparing pairs: both may be 1,000 names. */
export function namesAmong(names: readonly string[], candidates: readonly string[]): string[] {
  const known = new Set(names.map(folded));
  return candidates.filter((candidate) => known.has(folded(candidate)));
}

const isAscii = /^\p{ASCII}*$/u;

function foldedLetter(letter: string): string {
  const lower = letter.toLowerCase();
  return lower.toUpperCase() === letter ? lower : letter;
}
