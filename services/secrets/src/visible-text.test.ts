import { expect, test } from '@jest/globals';
import { isVisible } from './visible-text.ts';

test('refuses exactly the characters of the categories control, format, private use, surrogate and separator, except the space', () => {
  const wrong: string[] = [];
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    const character = String.fromCodePoint(code);
    const expected = character === ' ' || !/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Z}]/u.test(character);
    if (/\P{Cn}/u.test(character) && isVisible(character) !== expected) wrong.push(code.toString(16));
  }
  expect(wrong).toEqual([]);
});

test.each(['a\u200bb', '\ufeff', 'a\u00a0b', 'a\u202eb', '\ud800', '\u{E0041}', 'a\tb'])(
  '%j is not visible',
  (text) => {
    expect(isVisible(text)).toBe(false);
  },
);

test.each(['', 'a b', 'ä/日本/😀', 'e\u0301', '\u{E0100}'])('%j is visible', (text) => {
  expect(isVisible(text)).toBe(true);
});
