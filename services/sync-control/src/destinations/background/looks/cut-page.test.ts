import { expect, test } from '@jest/globals';
import type { SeenEntry } from '@secrets/sync-entries';
import { cutPage } from './cut-page.ts';

/** Entries by their names; those in capitals are wanted. */
const entries = (names: string): SeenEntry[] =>
  [...names].map((name) => ({ id: name, collisionKey: name, isWanted: name !== name.toLowerCase() }));

test.each([
  ['ends before the entry that does not fit', 'aBcDeF', 2, false, { ids: ['B', 'D'], end: 'e', seen: 5 }],
  ['ends the round with the last entry', 'aBcD', 2, true, { ids: ['B', 'D'], end: null, seen: 4 }],
  ['does not end the round if one is left', 'aBcD', 1, true, { ids: ['B'], end: 'c', seen: 3 }],
  ['passes entries of which none is wanted', 'abc', 2, false, { ids: [], end: 'c', seen: 3 }],
  ['ends the round of a destination without entries', '', 2, true, { ids: [], end: null, seen: 0 }],
] as const)('a page %s', (_, names, max, isLast, expected) => {
  expect(cutPage(entries(names), max, isLast)).toEqual(expected);
});
