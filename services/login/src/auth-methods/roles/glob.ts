/** Characters that divide the values of claims into parts: `repo:acme/shop:ref:refs/heads/main`, `a@example.com`, `auth0|7`. */
const separators = /([/:@|,;#\s])/;

/**
 * Whether a pattern matches a whole value. `*` matches any text within one part of the value, but never a separator, so
 * that whoever chooses one part cannot supply the following ones. Takes time proportional to the product of the lengths at most.
 */
export function matchesGlob(pattern: string, value: string): boolean {
  const expected = pattern.split(separators);
  const parts = value.split(separators);
  return (
    expected.length === parts.length &&
    expected.every((part, at) => (at % 2 === 1 ? part === parts[at] : matchesPart(part, parts[at]!)))
  );
}

/** Whether a pattern would match too much to bind anything: it consists of stars and separators. */
export const bindsNothing = (pattern: string): boolean =>
  pattern.split(separators).every((part, at) => at % 2 === 1 || /^\**$/.test(part));

function matchesPart(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return text === pattern;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  let from = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, from);
    if (found === -1) return false;
    from = found + piece.length;
  }
  return from <= text.length - last.length;
}
