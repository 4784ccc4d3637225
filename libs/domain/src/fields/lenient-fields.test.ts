import { expect, test } from '@jest/globals';
import { flag, integer, stringList, stringMap } from './lenient-fields.ts';

test('accepts scalars and lists as strings', () => {
  expect(flag.parse('true')).toBe(true);
  expect(flag.parse('0')).toBe(false);
  expect(integer.parse('-12')).toBe(-12);
  expect(stringList.parse(' a, ,b')).toEqual(['a', 'b']);
  expect(stringMap.parse({ a: 'b' })).toEqual({ a: 'b' });
});

test.each([
  ['team=QA', { team: 'QA' }],
  [['a=1', 'b==2=', 'a=3', 'c='], { a: '3', b: '=2=', c: '' }],
  ['a=1,b=2', { a: '1,b=2' }],
  [[], {}],
])('a map may be written as pairs, as command lines do: %j', (given, expected) => {
  expect(stringMap.parse(given)).toEqual(expected);
});

test.each(['a', '=a', '', ['a=1', 'b'], ['a=1', 2], [{ a: '1' }], [['a=1']]])(
  '%j is no map of strings',
  (given) =>
    expect(stringMap.safeParse(given).error?.issues[0]?.message).toMatch(/^must be a map of strings/),
);

test('refuses other values, without quoting them', () => {
  for (const field of [flag, integer]) {
    expect(field.safeParse('canary').error?.issues[0]?.message).toMatch(/^must be/);
  }
});
