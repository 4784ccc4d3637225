const maxCharacters = 63;
const maxBytes = 128;

/**
 * Returns a key or a value as a valid label of cloudC: in lower case, with hyphens in place of other characters, and
 * with at most 63 characters and 128 bytes
 * (https://cloud.google.com/secret-manager/docs/creating-and-accessing-secrets, "labels"). A key must also begin with a
 * letter, which this does not ensure.
 */
export function labelOf(text: string): string {
  const allowed = text
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{Ll}\p{Lo}\p{N}_-]/gu, '-');
  let label = '';
  for (const character of [...allowed].slice(0, maxCharacters)) {
    if (Buffer.byteLength(label + character) > maxBytes) break;
    label += character;
  }
  return label;
}

/** Whether a text is a valid key after `labelOf`. */
export const isLabelKey = (key: string): boolean => /^[\p{Ll}\p{Lo}]/u.test(labelOf(key));

/** The labels of a set of tags. Keys that become equal must be refused before. */
export const labelsOf = (tags: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(tags).map(([key, value]) => [labelOf(key), labelOf(value)]));
