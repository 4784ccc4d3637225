import { expect, test } from '@jest/globals';
import { cutToPage } from './pages.ts';

function cut(names: readonly string[], limit: number) {
  const warnings: string[] = [];
  const positionOf = (name: string) => ({ after: name, after_mount: 'kv' });
  const page = cutToPage(names, limit, positionOf, (sentence) => warnings.push(sentence));
  return { page, warnings };
}

test('a list that fits is returned whole, without a warning', () => {
  expect(cut(['a', 'b'], 2)).toEqual({ page: ['a', 'b'], warnings: [] });
});

test('a longer list is cut, and a warning states the query of the next page', () => {
  expect(cut(['a', 'b/', 'c'], 2)).toEqual({
    page: ['a', 'b/'],
    warnings: ['this page is full (limit=2); the next one begins with after=b%2F&after_mount=kv'],
  });
});
