import { describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { childPolicies } from './child-policies.ts';

const plain = testCaller({ policies: ['dev', 'default'], grants: ['update'] });
const sudo = testCaller({ policies: ['dev'], grants: ['update', 'sudo'] });
const root = testCaller();
const below = { id: 'n1', path: 'team' };

describe('the policies of a child', () => {
  test.each([
    ['inherited', plain, undefined, ['default', 'dev']],
    ['a subset', plain, ['dev'], ['default', 'dev']],
    ['default is everybody’s', sudo, ['default'], ['default']],
    ['another case, twice', plain, ['DEV', 'dev'], ['default', 'dev']],
    ['beyond, with sudo', sudo, ['ops'], ['default', 'ops']],
    ['beyond, from root', root, ['ops'], ['default', 'ops']],
    ['root of root', root, undefined, ['root']],
    ['root stands alone', root, ['root', 'dev'], ['root']],
    ['elsewhere, with sudo', { ...sudo, namespace: below }, ['ops'], ['default', 'ops']],
  ])('%s', (_name, caller, policies, expected) => {
    expect(childPolicies(caller, { policies, withoutDefault: false })).toEqual(expected);
  });

  test.each([
    ['beyond', plain, ['ops'], /must be among/],
    ['root without being it', sudo, ['root'], /permission denied/],
    ['root in another case', sudo, ['ROOT'], /permission denied/],
    ['the same name elsewhere', { ...plain, namespace: below }, ['dev'], /permission denied/],
    ['inherited elsewhere', { ...sudo, namespace: below }, [], /required/],
  ])('refused: %s', (_name, caller, policies, expected) => {
    expect(() => childPolicies(caller, { policies, withoutDefault: false })).toThrow(expected);
  });

  test('without default', () => {
    expect(childPolicies(plain, { policies: undefined, withoutDefault: true })).toEqual(['dev']);
  });
});
