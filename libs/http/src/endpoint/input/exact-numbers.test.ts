import { expect, test } from '@jest/globals';
import { inexactNumber } from './exact-numbers.ts';

const inexactPath = (text: string) => inexactNumber(Buffer.from(text));

test.each([
  '{"a":1,"b":-9007199254740991,"c":1.10,"d":1e3,"e":0.1}',
  '{"a":"123456789012345678","b":"1e999"}',
  '{"a":1152921504606847000,"b":9007199254740992,"c":0.30000000000000004,"d":1.7976931348623157e308}',
  '{"a":-0,"b":0e999,"c":0.000,"d":100e-2,"e":1E2,"f":0.10000000000000000}',
  '{"a":',
])('accepts %s', (text) => expect(inexactPath(text)).toBeUndefined());

test.each([
  ['{"a":{"id":123456789012345678}}', 'a.id'],
  ['{"b":[{}],"a":{"list":[0,{"":9007199254740993,"c":9007199254740993}],"d":{}}}', 'a.list.1.'],
  ['9007199254740993', 'the body'],
  ['{"id":-9007199254740993}', 'id'],
  ['{"big":1e400}', 'big'],
  ['{"list":[1,9007199254740993]}', 'list.1'],
  ['{"sixty":1152921504606846976}', 'sixty'], // exact in a double, but written as …7000
  ['{"part":0.1234567890123456789}', 'part'],
  ['{"part":1234567890.12345678901}', 'part'],
  ['{"small":1e-400}', 'small'],
])('finds the inexact number in %s at %s', (text, path) => expect(inexactPath(text)).toBe(path));

test('takes linear time for a long run of zeros', () => {
  expect(inexactPath(`{"a":1${'0'.repeat(500_000)}1}`)).toBe('a');
  expect(inexactPath(`{"a":0.${'0'.repeat(500_000)}1}`)).toBe('a');
});
