import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canonicalJson } from './canonical-json.ts';
import { parseExactly } from './exact-json.ts';

// Hashes that are stored depend on these texts.
test.each([
  ['{"b":1,"a":{"d":[{"f":1,"e":2}],"c":null}}', '{"a":{"c":null,"d":[{"e":2,"f":1}]},"b":1}'],
  ['{"a":[{"a":1,"b":"x"},[],{}],"b":true}', '{"a":[{"a":1,"b":"x"},[],{}],"b":true}'],
  ['{"a":1,"B":2,"10":3,"9":4,"":5,"__proto__":6}', '{"9":4,"10":3,"":5,"B":2,"__proto__":6,"a":1}'],
  ['{"é":1,"😀":2,"\\ufb01":3,"z":4}', '{"z":4,"é":1,"😀":2,"ﬁ":3}'],
  ['{"a":9007199254740993,"b":[1.10,-0]}', '{"a":9007199254740993,"b":[1.10,-0]}'],
  ['"text"', '"text"'],
])('writes %s with the names in order', (text, expected) => {
  expect(canonicalJson(parseExactly(text))).toBe(expected);
});

test('writes values that differ only in the order of names alike', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value);
      expect(canonicalJson(reversed(value))).toBe(text);
      expect(canonicalJson(JSON.parse(text))).toBe(text);
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, item]) => [name, reversed(item)]),
  );
}
