import { expect, test } from '@jest/globals';
import { SecretText } from './secret-text.ts';

const data =
  '{"text":"a \\"b\\"","number":1,"object":{"deep":[null]},"empty":"","exact":9007199254740993,"list":[1.10,-0]}';

test.each([
  ['', data],
  ['text', 'a "b"'],
  ['number', '1'],
  ['object', '{"deep":[null]}'],
  ['empty', ''],
  ['exact', '9007199254740993'],
  ['list', '[1.10,-0]'],
  ['absent', undefined],
  ['toString', undefined],
])('the value of sub-key %j is %j', (subKey, value) => {
  expect(new SecretText(data).pushedValue(subKey)).toBe(value);
});
