import { expect, test } from '@jest/globals';
import { type Expected, whyWrong } from './expected-contents.ts';

const one = (destination: string, now: Expected['now'], before: Expected['now'] = {}): Expected => ({
  destination,
  now,
  before: { ...before, ...now },
});

test.each([
  ['what is wanted', { n: 'v' }, [one('a', { n: 'v' })]],
  ['nothing, if nothing is wanted', {}, []],
  ['one of two values of a shared name', { n: 'w' }, [one('a', { n: 'v' }), one('b', { n: 'w' })]],
  [
    'the former name of what is blocked',
    { n: 'w', o: 'v' },
    [one('a', { n: 'v' }, { o: 'v' }), one('b', { n: 'w' })],
  ],
  [
    'a name that is kept by what is blocked itself',
    { n: 'w', o: 'v', p: 'u' },
    [one('a', { n: 'v' }, { o: 'v' }), one('b', { n: 'w' }), one('c', { o: 'u' }, { p: 'u' })],
  ],
  [
    'a part of an association that another one of its destination blocks',
    { n: 'w' },
    [one('a', { n: 'v', m: 'v' }), one('a', { n: 'w' })],
  ],
])('stores may hold %s', (_, held, all) => {
  expect(whyWrong(held, all)).toBeUndefined();
});

test.each([
  ['an older value', { n: 'u' }, [one('a', { n: 'v' })], 'n is u'],
  ['nothing', {}, [one('a', { n: 'v' })], 'n is missing'],
  ['what is not wanted', { n: 'v' }, [], 'n is v'],
  ['a former name', { n: 'v', o: 'v' }, [one('a', { n: 'v' }, { o: 'v' })], 'o is v'],
  ['a former value of a shared name', { n: 'u' }, [one('a', { n: 'v' }), one('b', { n: 'w' })], 'n is u'],
  [
    'less than is wanted because another destination has a name',
    { n: 'w' },
    [one('a', { n: 'v', m: 'v' }), one('b', { n: 'w' })],
    'm is missing',
  ],
])('stores must not hold %s', (_, held, all, why) => {
  expect(whyWrong(held, all)).toBe(why);
});
