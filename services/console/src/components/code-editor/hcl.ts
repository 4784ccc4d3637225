import { StreamLanguage, type StringStream } from '@codemirror/language';

/** The tokens of a policy in HCL: comments, strings, numbers and words. */
const tokens: readonly [RegExp, string][] = [
  [/^(#|\/\/).*/, 'comment'],
  [/^\/\*.*?\*\//, 'comment'],
  [/^"(?:[^"\\]|\\.)*"?/, 'string'],
  [/^\d+(\.\d+)?/, 'number'],
  [/^(true|false)\b/, 'bool'],
  [/^path\b/, 'keyword'],
  [/^[a-z_]\w*/i, 'propertyName'],
];

function nextToken(stream: StringStream): string | null {
  if (stream.eatSpace()) return null;
  const known = tokens.find(([pattern]) => stream.match(pattern) !== null);
  if (known === undefined) stream.next();
  return known?.[1] ?? null;
}

/** The language of policies (docs/conventions/access.md#policies). */
export const hcl = StreamLanguage.define({
  name: 'hcl',
  token: nextToken,
  languageData: { commentTokens: { line: '#' } },
});
