import { expect, test } from '@jest/globals';
import { pendingRules, type Ruled, wrongHolders } from './holders.ts';

const rule = { destination: 'd', name: 'r', path: 'a/*', metadataMatch: { sync: 'p' }, isUpToDate: true };
const right: Ruled = {
  rules: [rule],
  secrets: new Map([
    ['a/1', { sync: 'p' }],
    ['a/2', {}],
    ['b/1', { sync: 'p' }],
  ]),
  associations: [
    { destination: 'd', key: 'a/1', byHand: false, rules: ['r'] },
    { destination: 'd', key: 'b/1', byHand: true, rules: [] },
  ],
  refused: [],
};

test('what rules and hands hold is right', () => {
  expect([...wrongHolders(right), ...pendingRules(right)]).toEqual([]);
});

test.each<[string, Partial<Ruled>]>([
  ['a match that no rule holds', { associations: [] }],
  ['a hold of a rule that does not match', { rules: [{ ...rule, metadataMatch: { sync: 'q' } }] }],
  ['a hold of a rule that is gone', { rules: [] }],
  [
    'an association that nothing holds',
    { associations: [...right.associations, { destination: 'd', key: 'a/2', byHand: false, rules: [] }] },
  ],
])('%s is found', (_, change) => {
  expect(wrongHolders({ ...right, ...change })).toHaveLength(1);
});

test('a rule that is not up to date, and a refused secret, are pending', () => {
  expect(pendingRules({ ...right, rules: [{ ...rule, isUpToDate: false }], refused: ['a/1'] })).toHaveLength(
    2,
  );
});
