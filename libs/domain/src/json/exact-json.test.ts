import { expect, test } from '@jest/globals';
import { isExactNumber, parseExactly } from './exact-json.ts';

test.each([
  '9007199254740993',
  '-9007199254740993',
  '{"id":123456789012345678,"list":[0.1234567890123456789,1152921504606846976]}',
  '{"a":1.10,"b":1.0,"c":1e3,"d":1E+2,"e":-0,"f":-0.0,"g":0.0000001,"h":1e400,"i":1e-400}',
  '{"a":1152921504606847000,"b":0.30000000000000004,"c":1.7976931348623157e308,"d":100e-2}',
  '[9007199254740993,[-0],{"__proto__":1.50}]',
  `{"a":1${'0'.repeat(500_000)}1,"b":0.${'0'.repeat(500_000)}1}`,
])('writes %s back digit for digit', (text) => {
  expect(JSON.stringify(parseExactly(text))).toBe(text);
});

test('skips blanks around a number', () => {
  expect(JSON.stringify(parseExactly('{"a" :\n\t9007199254740993 , "b": [ -0 ]}'))).toBe(
    '{"a":9007199254740993,"b":[-0]}',
  );
});

test('returns ordinary numbers where these are exact', () => {
  const text = '{"a":1,"b":-9007199254740991,"c":0.1,"d":[0,-1.5],"e":"1.10","f":9007199254740993}';
  const parsed = parseExactly(text) as Record<string, unknown>;
  expect(Object.values(parsed).map(isExactNumber)).toEqual([false, false, false, false, false, true]);
  expect(parsed).toMatchObject({ a: 1, b: -9007199254740991, c: 0.1, d: [0, -1.5], e: '1.10' });
});

test('does not take an object of a request for a number', () => {
  expect(isExactNumber(parseExactly('{"rawJSON":"1.10"}'))).toBe(false);
});

test.each(['{"a":', '[1.10,]', '{"a":01.0}'])('throws a SyntaxError for %s', (text) => {
  expect(() => parseExactly(text)).toThrow(SyntaxError);
});
