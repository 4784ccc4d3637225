import { expect, test } from '@jest/globals';
import { cutToPage, pageQuery } from './pages.ts';
import { parseLeniently } from './parse-input.ts';

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

test.each([
  ['0', 50],
  ['-1', 50],
  ['', 50],
  ['7', 7],
])('a limit of %j means a page of %d', (limit, expected) => {
  expect(parseLeniently(pageQuery({ max: 50 }), { limit })).toEqual({ limit: expected });
});

test('a limit above the largest page is refused', () => {
  expect(() => parseLeniently(pageQuery({ max: 50 }), { limit: '51' })).toThrow('limit: must be at most 50');
});
