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

test.each([
  ['what is reported and left alone', edited, { values: [], drifts: [] }],
  ['drift that was not found', { ...edited, drift: 'none' }, { values: [], drifts: ['name'] }],
  ['a value of the service', { ...edited, value: 'ours' }, { values: ['name'], drifts: [] }],
  ['a deletion by the service', missing, { values: ['name'], drifts: ['name'] }],
])('%s is compared with what somebody else has left', (_, seen, expected) => {
  expect(differencesByHand('report', new Map([['name', edited]]), new Map([['name', seen]]))).toEqual(
    expected,
  );
});
