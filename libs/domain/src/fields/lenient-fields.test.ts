import { expect, test } from '@jest/globals';
import { flag, integer, stringList, stringMap } from './lenient-fields.ts';

test('accepts scalars and lists as strings', () => {
  expect(flag.parse('true')).toBe(true);
  expect(flag.parse('0')).toBe(false);
  expect(integer.parse('-12')).toBe(-12);
  expect(stringList.parse(' a, ,b')).toEqual(['a', 'b']);
  expect(stringMap.parse({ a: 'b' })).toEqual({ a: 'b' });
});

test('refuses other values, without quoting them', () => {
  for (const field of [flag, integer]) {
    expect(field.safeParse('canary').error?.issues[0]?.message).toMatch(/^must be/);
  }
});
