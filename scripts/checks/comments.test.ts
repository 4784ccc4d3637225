import { expect, test } from '@jest/globals';
import { commentFaults, crowdedFolders } from './comments.ts';

const rules = (source: string) => commentFaults(source).map(({ line, rule }) => `${line} ${rule}`);

test('a docstring that begins with an inverted clause is reported, except on a member', () => {
  expect(rules('/** What a caller sent. */\nexport const sent = 1;')).toEqual(['1 opening']);
  expect(rules('/**\n * Such as a name.\n */\nfunction name() {}')).toEqual(['1 opening']);
  expect(rules('interface Call {\n  /** What a caller sent. */\n  readonly sent?: string;\n}')).toEqual([]);
  expect(rules('/** Returns what a caller sent. */\nfunction sent() {}')).toEqual([]);
});

test('a comment line of more than 130 characters is reported, a line of code is not', () => {
  expect(rules(`// ${'x'.repeat(127)}\n// ${'x'.repeat(128)}\nconst x = '${'x'.repeat(130)}';`)).toEqual([
    '2 long line',
  ]);
});

test('a word of the dialect is reported in comments only', () => {
  expect(rules("// Nobody reads it.\nconst user = 'nobody';")).toEqual(['1 dialect']);
});

test('a context with more than six members is reported', () => {
  const context = (members: number) =>
    `export interface CallContext {\n${'  /** The clock. */\n  now: () => number;\n'.repeat(members)}}`;
  expect(rules(context(6))).toEqual([]);
  expect(rules(context(7))).toEqual(['1 context']);
});

test('a folder with more than 14 files and folders is reported', () => {
  const files = Array.from({ length: 14 }, (_, index) => `src/${index}/index.ts`);
  expect(crowdedFolders(files)).toEqual([]);
  expect(crowdedFolders([...files, 'src/main.ts'])).toEqual([{ folder: 'src', entries: 15 }]);
});
