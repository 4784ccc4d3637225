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

const isAscii = /^\p{ASCII}*$/u;

function foldedLetter(letter: string): string {
  const lower = letter.toLowerCase();
  return lower.toUpperCase() === letter ? lower : letter;
}
