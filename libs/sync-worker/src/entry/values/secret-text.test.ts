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

test.each([
  ['', '{"a":{"b":1,"c":[1.0,{"d":1,"e":2}]}}', '{"a":{"c":[1.0,{"e":2,"d":1}],"b":1}}', true],
  ['a', '{"a":{"b":1,"c":2},"x":1}', '{"x":2,"a":{"c":2,"b":1}}', true],
  ['a', '{"a":"{\\"b\\":1,\\"c\\":2}"}', '{"a":"{\\"c\\":2,\\"b\\":1}"}', false],
  ['', '{"a":[1,2]}', '{"a":[2,1]}', false],
  ['', '{"a":1.0}', '{"a":1.00}', false],
  ['', '{"__proto__":{"a":1}}', '{}', false],
])('sub-key %j of %s compared with %s: equal is %j', (subKey, one, other, isEqual) => {
  const [first, second] = [one, other].map((text) => new SecretText(text).comparedValue(subKey));
  expect(first === second).toBe(isEqual);
  expect(first).toBeDefined();
});
