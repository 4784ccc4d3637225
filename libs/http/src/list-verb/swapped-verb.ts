const letters = [
  { L: 'L' }, // both verbs begin with LI
  { I: 'I' },
  { S: 'N', N: 'S' },
  { T: 'K', K: 'T' },
].map((swaps) => new Map(Object.entries(swaps).map(([from, to]) => [from.charCodeAt(0), to.charCodeAt(0)])));

/** The number of letters in each verb; also what `swapVerb` returns once the verb is decided. */
export const verbLetters = letters.length;

/**
 * Swaps `LIST` and `LINK` in place, where a request's verb begins or continues at `at`. `seen` is the number of its
 * letters that came before (0 at its start). Returns the number seen now, or `verbLetters` once the verb is decided.
 * Letters are replaced one by one, so no byte has to be held back when a verb arrives in pieces, and no other word
 * becomes `LIST` or `LINK`.
 */
export function swapVerb(bytes: Uint8Array, at: number, seen: number): number {
  let index = seen;
  for (let i = at; i < bytes.length && index < verbLetters; i++, index++) {
    const swapped = letters[index]?.get(bytes[i] ?? 0);
    if (swapped === undefined) return verbLetters;
    bytes[i] = swapped;
  }
  return index;
}
