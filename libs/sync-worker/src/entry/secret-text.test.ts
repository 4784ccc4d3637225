import { expect, test } from '@jest/globals';
import { SecretText } from './secret-text.ts';

const data = JSON.stringify({ text: 'a "b"', number: 1, object: { deep: [null] }, empty: '' });

test.each([
  ['', data],
  ['text', 'a "b"'],
  ['number', '1'],
  ['object', '{"deep":[null]}'],
  ['empty', ''],
  ['absent', undefined],
  ['toString', undefined],
])('the value of sub-key %j is %j', (subKey, value) => {
  expect(new SecretText(data).pushedValue(subKey)).toBe(value);
});
