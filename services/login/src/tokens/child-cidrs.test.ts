import { describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { childCidrs } from './child-cidrs.ts';

const plain = testCaller({ policies: ['dev'], grants: ['update'] });
const sudo = testCaller({ policies: ['dev'], grants: ['update', 'sudo'] });
const parent = ['10.0.0.0/8', '2001:db8::/32'];

describe('the addresses of a child', () => {
  test.each<[string, typeof plain, readonly string[], readonly string[] | undefined, readonly string[]]>([
    ['none', plain, [], undefined, []],
    ['its own', plain, [], ['10.0.0.0/8'], ['10.0.0.0/8']],
    ["the parent's", plain, parent, undefined, parent],
    ["the parent's for an empty list", plain, parent, [], parent],
    ["the parent's even with sudo", sudo, parent, undefined, parent],
    [
      'narrower',
      plain,
      parent,
      ['10.1.0.0/16', '10.2.3.4', '2001:db8::1'],
      ['10.1.0.0/16', '10.2.3.4', '2001:db8::1'],
    ],
    ['the same', plain, parent, ['10.0.0.0/8'], ['10.0.0.0/8']],
    ['IPv4 written as IPv6', plain, parent, ['::ffff:10.1.2.3'], ['::ffff:10.1.2.3']],
    ['wider, with sudo', sudo, parent, ['0.0.0.0/0'], ['0.0.0.0/0']],
  ])('%s', (_name, caller, bound, requested, expected) => {
    expect(childCidrs(caller, bound, requested)).toEqual(expected);
  });

  test.each([
    ['wider', ['0.0.0.0/0']],
    ['wider in the other family', ['::/0']],
    ['one of several', ['10.1.0.0/16', '11.0.0.0/16']],
    ['wider, written as IPv6', ['::ffff:0:0/96']],
  ])('refused: %s', (_name, requested) => {
    expect(() => childCidrs(plain, parent, requested)).toThrow(/bound_cidrs/);
  });
});
