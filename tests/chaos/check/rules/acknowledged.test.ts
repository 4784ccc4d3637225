import { expect, test } from '@jest/globals';
import { operation } from '../histories/histories.ts';
import { checkRules } from './acknowledged.ts';
import type { Ruled } from './holders.ts';

const settings = { path: 'a/*', metadata_match: { sync: 'p' } };
const rule = { destination: 'd', name: 'r', path: 'a/*', metadataMatch: { sync: 'p' }, isUpToDate: true };
const final: Ruled = {
  rules: [rule],
  secrets: new Map([['a/1', { sync: 'p' }]]),
  associations: [],
  refused: [],
};
const add = operation({ act: 'add', key: 'a/1' }, [1, 2]);
const tag = operation({ act: 'tag', key: 'a/1', value: 'p' }, [3, 4]);
const write = operation({ act: 'rule', destination: 'd', rule: 'r', settings }, [5, 6]);
const history = [add, tag, write];

test('what was acknowledged last is right, and what is unknown may be', () => {
  expect(checkRules(history, final)).toEqual([]);
  const end = operation({ act: 'end', destination: 'd', rule: 'r', keep: false }, [7, 8], {
    outcome: 'unknown',
  });
  expect(checkRules([...history, end], final)).toEqual([]);
  expect(checkRules([...history, end], { ...final, rules: [] })).toEqual([]);
});

test.each<[string, Partial<Ruled>]>([
  ['a secret that was lost', { secrets: new Map() }],
  ['earlier metadata', { secrets: new Map([['a/1', { sync: 'q' }]]) }],
  ['a rule that was lost', { rules: [] }],
  ['an earlier rule', { rules: [{ ...rule, path: '*' }] }],
])('%s is found', (_, change) => {
  expect(checkRules(history, { ...final, ...change })).not.toEqual([]);
});
