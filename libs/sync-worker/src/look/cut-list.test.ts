import { expect, test } from '@jest/globals';
import type { StorePosition } from '@secrets/domain';
import type { ListedSecret } from '../driver/look.ts';
import { cutList } from './cut-list.ts';

const listed = (name: string): ListedSecret => ({
  name,
  belongs: 'none',
  isReadable: true,
  createdAt: null,
  changedAt: null,
});

/** Returns the names of all responses of at most `limit`, from a store with these pages. */
function names(pages: Readonly<Record<string, string[]>>, limit: number): string[][] {
  const found: string[][] = [];
  const numbers = Object.keys(pages);
  for (let after: StorePosition | null = { page: null, name: '' }; after !== null; ) {
    const number = after.page ?? numbers[0]!;
    const next = numbers[numbers.indexOf(number) + 1] ?? null;
    const cut = cutList({ secrets: pages[number]!.map(listed), next }, { after, limit });
    found.push(cut.secrets.map(({ name }) => name));
    after = cut.next;
  }
  return found;
}

test.each([
  [1, [['b'], ['d'], ['a'], ['c'], ['e']]],
  [2, [['b', 'd'], ['a', 'c'], ['e']]],
  [
    9,
    [
      ['b', 'd'],
      ['a', 'c', 'e'],
    ],
  ],
])(
  'each external secret is in one response of at most %d, in the order of the names of its page',
  (limit, wanted) => {
    expect(names({ one: ['d', 'b'], two: ['e', 'c', 'a'] }, limit)).toEqual(wanted);
  },
);

test('an empty page of the store is an empty response, and the list continues after it', () => {
  expect(names({ one: [], two: ['a'] }, 5)).toEqual([[], ['a']]);
});

test('what was added or removed meanwhile does not hide or repeat the rest of its page', () => {
  const after = { page: 'one', name: 'b' };
  const { secrets } = cutList({ secrets: ['c', 'aa', 'd'].map(listed), next: null }, { after, limit: 5 });
  expect(secrets.map(({ name }) => name)).toEqual(['c', 'd']);
});
