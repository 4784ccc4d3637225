import { expect, test } from '@jest/globals';
import { afterAction, differencesByHand } from './by-hand.ts';

const edited = { value: 'theirs', drift: 'changed' };
const foreign = { value: 'theirs', drift: 'foreign' };
const missing = { value: undefined, drift: 'missing' };

test.each([
  ['an edit', undefined, 'edit', edited],
  ['an edit of what somebody else has created', foreign, 'edit', foreign],
  ['a new secret in place of an edited one', edited, 'recreate', foreign],
  ['a deletion', edited, 'delete', missing],
] as const)('%s leaves an external secret with its drift', (_, before, action, expected) => {
  expect(afterAction(before, action, 'theirs')).toEqual(expected);
});

const ours = { value: 'ours', drift: 'none' };
const fine = { touched: [], unfinished: [] };
const touched = { touched: ['name'], unfinished: [] };
const unfinished = { touched: [], unfinished: ['name'] };

test.each([
  ['report', edited, 'is reported and left alone', edited, fine],
  ['report', edited, 'is not found yet', { ...edited, drift: 'none' }, unfinished],
  ['report', edited, 'has a value of the service', { ...edited, value: 'ours' }, touched],
  ['report', edited, 'was deleted by the service', missing, touched],
  ['report', missing, 'was created by the service', ours, touched],
  ['repair', edited, 'is repaired', ours, fine],
  ['repair', missing, 'is repaired', ours, fine],
  ['repair', edited, 'is not repaired yet', edited, unfinished],
  ['repair', missing, 'is not repaired yet', missing, unfinished],
  ['repair', foreign, 'is left alone', foreign, fine],
  ['repair', foreign, 'was overwritten', ours, touched],
] as const)('with %s, what somebody has left as %j %s', (policy, left, _, seen, expected) => {
  const changed = new Map([['name', { policy, pushed: 'ours', left }]]);
  expect(differencesByHand(changed, new Map([['name', seen]]))).toEqual(expected);
});
