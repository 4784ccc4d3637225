import { expect, test } from '@jest/globals';
import { describedResource } from './described-resource.ts';

test.each([
  ['SystemAssigned', 'p'],
  ['SystemAssigned, UserAssigned', 'p'],
  ['systemassigned,userassigned', 'p'],
  ['UserAssigned', undefined],
  ['None', undefined],
  [null, undefined],
])('the principal of an identity of the type %s is system-assigned: %s', (type, expected) => {
  const described = describedResource({ id: '/x', identity: { type, principalId: 'p' } });
  expect(described.systemAssigned).toBe(expected);
});
