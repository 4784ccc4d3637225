import { describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { childCidrs, childPolicies } from './child-limits.ts';

const plain = testCaller({ policies: ['dev', 'default'], grants: ['update'] });
const withoutDefault = testCaller({ policies: ['dev'], grants: ['create', 'update'] });
const sudo = testCaller({ policies: ['dev'], grants: ['update', 'sudo'] });
const root = testCaller();
const below = { id: 'n1', path: 'team' };

describe('the policies of a child', () => {
  test.each([
    ["are the parent's if none are requested", plain, undefined, ['default', 'dev']],
    ["may be a subset of the parent's", plain, ['dev'], ['default', 'dev']],
    ['may be default alone', plain, ['default'], ['default']],
    ['do not include default if the parent does not have it', withoutDefault, ['dev'], ['dev']],
    ['do not inherit default from a parent without it', withoutDefault, undefined, ['dev']],
    ['may include default with sudo', sudo, ['default'], ['default']],
    ['are default alone if all requested names are blank', plain, [], ['default']],
    ['are default alone if all requested names are blank, for a root token', root, [], ['default']],
    ['are none if all requested names are blank and the parent lacks default', withoutDefault, [], []],
    ['are in lower case, each once', plain, ['DEV', 'dev'], ['default', 'dev']],
    ["may exceed the parent's with sudo", sudo, ['ops'], ['default', 'ops']],
    ["may exceed the parent's for a root token", root, ['ops'], ['default', 'ops']],
    ['include root if the parent is a root token', root, undefined, ['root']],
    ['are root alone if root is among them', root, ['root', 'dev'], ['root']],
    [
      'may be named in another namespace with sudo',
      { ...sudo, namespace: below },
      ['ops'],
      ['default', 'ops'],
    ],
  ])('%s', (_rule, caller, policies, expected) => {
    expect(childPolicies(caller, { policies, withoutDefault: false })).toEqual(expected);
  });

  test.each([
    ["must not exceed the parent's", plain, ['ops'], /must be a subset/],
    ['must not include default if the parent does not', withoutDefault, ['default'], /must be a subset/],
    ['must not be root unless the parent is', sudo, ['root'], /only a root token/],
    ['must not be root in any case', sudo, ['ROOT'], /only a root token/],
    ['need sudo in another namespace', { ...plain, namespace: below }, ['dev'], /needs sudo/],
    ['are required in another namespace', { ...sudo, namespace: below }, undefined, /required/],
  ])('%s', (_rule, caller, policies, expected) => {
    expect(() => childPolicies(caller, { policies, withoutDefault: false })).toThrow(expected);
  });

  test('do not include default if it is excluded', () => {
    expect(childPolicies(plain, { policies: undefined, withoutDefault: true })).toEqual(['dev']);
  });
});

describe('the addresses of a child', () => {
  const parent = ['10.0.0.0/8', '2001:db8::/32'];
  const narrower = ['10.1.0.0/16', '10.2.3.4', '2001:db8::1'];

  test.each<[string, typeof plain, readonly string[], readonly string[] | undefined, readonly string[]]>([
    ['are unbound if nobody bounds them', plain, [], undefined, []],
    ['are the requested ones if the parent is unbound', plain, [], ['10.0.0.0/8'], ['10.0.0.0/8']],
    ["are the parent's if none are requested", plain, parent, undefined, parent],
    ["are the parent's if an empty list is requested", plain, parent, [], parent],
    ["are the parent's by default even with sudo", sudo, parent, undefined, parent],
    ["may be narrower than the parent's", plain, parent, narrower, narrower],
    ["may equal the parent's", plain, parent, ['10.0.0.0/8'], ['10.0.0.0/8']],
    ['may be IPv4 written as IPv6', plain, parent, ['::ffff:10.1.2.3'], ['::ffff:10.1.2.3']],
    ['may be wider with sudo', sudo, parent, ['0.0.0.0/0'], ['0.0.0.0/0']],
  ])('%s', (_rule, caller, bound, requested, expected) => {
    expect(childCidrs(caller, bound, requested)).toEqual(expected);
  });

  test.each([
    ['must not be wider', ['0.0.0.0/0']],
    ['must not be wider in the other family', ['::/0']],
    ['must all be within', ['10.1.0.0/16', '11.0.0.0/16']],
    ['must not be wider, written as IPv6', ['::ffff:0:0/96']],
  ])('%s', (_rule, requested) => {
    expect(() => childCidrs(plain, parent, requested)).toThrow(/bound_cidrs/);
  });
});
