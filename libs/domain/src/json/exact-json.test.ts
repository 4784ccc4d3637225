import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
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

test.each([
  '{"a":',
  '[1.10,]',
  '{"a":01.0}',
  '[1.0.0]',
  '[1.,2.0]',
  '[-,1.0]',
  '[1.0e,2]',
  '1.0 1',
  '{1.0:1}',
  '["1.0]',
  '[1.0 "a"]',
  '[1.0,"\n"]',
  '["\\d",1.0]',
])('throws a SyntaxError for %s', (text) => {
  expect(() => parseExactly(text)).toThrow(SyntaxError);
});

/** The result of a parser, written as JSON; undefined if it throws a SyntaxError. */
const written = (parse: (text: string) => unknown, text: string): string | undefined => {
  try {
    return JSON.stringify(parse(text));
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return undefined;
  }
};

/** The parser of the engine, with a function that sees the source of each value: slow, but without a scanner of its own. */
const byReviver = (text: string): unknown => {
  const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown };
  const keep = (_name: string, value: unknown, { source }: { source?: string } = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value;
  return JSON.parse(text, keep as (name: string, value: unknown) => unknown);
};

test('parses or refuses any text as the parser of the engine would', () => {
  const marks = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    ' ',
    '"',
    '\\"',
    '\\\\',
    '"a"',
    '"__proto__":',
    '"1":',
    '-',
    '.5',
    '1e3',
    '0',
    '\n',
  ];
  const put = fc.oneof(fc.constantFrom(...marks), fc.constantFrom('1.0', '-0', '12345678901234567', 'true'));
  const change = fc.tuple(fc.nat(), fc.nat({ max: 2 }), put);
  fc.assert(
    fc.property(fc.json({ maxDepth: 3 }), fc.array(change, { maxLength: 3 }), (json, changes) => {
      const changed = changes.reduce((text, [at, without, mark]) => {
        const index = at % (text.length + 1);
        return text.slice(0, index) + mark + text.slice(index + without);
      }, json);
      const text = `[1.0,${changed}]`;
      expect(written(parseExactly, text)).toBe(written(byReviver, text));
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  '{"a":{1.0:1},"a":2}',
  '{"a":01.0,"a":2}',
  '{"a":1.0.0,"a":2}',
  '{1.0\n:1}',
  '["\\\\",1.0,"]',
  '[1.0,"\n"]',
])('refuses %s, also where another field hides it', (text) =>
  expect(() => parseExactly(text)).toThrow(SyntaxError),
);

test('finds the end of each string, however long and escaped', () => {
  for (const escaped of ['', '\\"', '\\\\', '\\\\\\"', '\\u0022'])
    for (let length = 0; length < 70; length += 1) {
      const text = `["${'x'.repeat(length)}${escaped}",1.0,"${escaped}${'y'.repeat(length)}",-0]`;
      expect(written(parseExactly, text)).toBe(written(byReviver, text));
    }
});

test('calls no function for each value, and creates only the numbers that would change', () => {
  const parse = jest.spyOn(JSON, 'parse');
  const visited = jest.spyOn(String.prototype, 'startsWith');
  const fields = Array.from({ length: 1_000 }, (_, at) => `"k${at}":[1,${at}.0]`);
  const parsed = parseExactly(`{${fields.join()}}`) as Record<string, [unknown, unknown]>;
  const [parses, strings] = [parse.mock.calls, visited.mock.calls.length];
  jest.restoreAllMocks();
  expect(parses.map((given) => given.length)).toEqual([1]);
  expect(strings).toBe(1_000);
  expect(Object.values(parsed).map((list) => list.map(isExactNumber))).toEqual(
    Array(1_000).fill([false, true]),
  );
});

test('converts no number whose text shows that it would change', () => {
  const text = `[${Array.from({ length: 1_000 }, (_, at) => `${at}.0`).join()},1.25]`;
  const convert = jest.spyOn(globalThis, 'Number');
  const parsed = parseExactly(text);
  const converted = convert.mock.calls.map(([given]) => given);
  jest.restoreAllMocks();
  expect(converted).toEqual(['1.25']);
  expect(JSON.stringify(parsed)).toBe(text);
});
