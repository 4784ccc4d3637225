const letters = [
  { L: 'L' }, // both verbs begin with LI
  { I: 'I' },
  { S: 'N', N: 'S' },
  { T: 'K', K: 'T' },
].map((swaps) => new Map(Object.entries(swaps).map(([from, to]) => [from.charCodeAt(0), to.charCodeAt(0)])));

/** How many letters the two verbs have; also what `swapVerb` answers when there is nothing left to look at. */
export const verbLetters = letters.length;

/**
 * Makes `LIST` and `LINK` change places, in the bytes themselves, where a request's verb begins or goes on at `at`.
 * `seen` is how many letters of the verb came before (0 at its start); the answer is how many have been seen now,
 * and `verbLetters` when the verb is decided. As the letters change one for one, no byte has to be held back when
 * a verb arrives in pieces, and no other word becomes `LIST` or `LINK`.
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
