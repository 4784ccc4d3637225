import { expect, test } from '@jest/globals';
import { brokenSourceLinks } from './source-links.ts';

const sources: Record<string, string> = {
  'src/a.ts': 'export function first() {}\nconst second = () => first();',
};
const broken = (markdown: string) => brokenSourceLinks(markdown, (path) => sources[path]);

test('a link to a file that defines every name is accepted', () => {
  expect(broken('see [`first`, `second`](src/a.ts) and [text](src/a.ts)')).toEqual([]);
});

test('a name that the file only uses, or a file that does not exist, is reported with its line', () => {
  expect(broken('\n[`third`](src/a.ts)')).toEqual([{ line: 2, name: 'third', file: 'src/a.ts' }]);
  expect(broken('[`first`](src/b.ts)')).toEqual([{ line: 1, name: 'first', file: 'src/b.ts' }]);
});
