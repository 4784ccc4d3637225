import { expect, test } from '@jest/globals';
import { brokenReferences } from './doc-references.ts';

const page = '# Conventions\n\n## 1. Paths & names\n\n```sh\n# not a heading\n```\n\n## Twice\n\n## Twice\n';
const readPage = (path: string) => (path === 'docs/conventions.md' ? page : undefined);
const reasons = (text: string) => brokenReferences(text, readPage).map(({ reason }) => reason);

test.each([
  'docs/conventions.md',
  'docs/conventions.md#conventions',
  'see docs/conventions.md#1-paths--names.',
  'docs/conventions.md#twice and docs/conventions.md#twice-1',
  'https://example.test/docs/other.md#names',
])('accepts a reference to a page or a heading that exists: %s', (text) => {
  expect(reasons(text)).toEqual([]);
});

test('reports a page that does not exist, with its line', () => {
  expect(brokenReferences('// first\n// docs/missing.md#names', readPage)).toEqual([
    { line: 2, reference: 'docs/missing.md#names', reason: 'no such page' },
  ]);
});

test.each([
  'docs/conventions.md#missing',
  'docs/conventions.md#not-a-heading',
  'docs/conventions.md#twice-2',
])('reports a heading that does not exist: %s', (text) => {
  expect(reasons(text)).toEqual(['no such heading']);
});

test('reports an empty anchor', () => {
  expect(reasons('docs/conventions.md#')).toEqual(['no such heading']);
});
