import { expect, test } from '@jest/globals';
import { inexactNumber } from './exact-numbers.ts';

const nameOf = (text: string) => inexactNumber(Buffer.from(text));

test.each([
  '{"a":1,"b":-9007199254740991,"c":1.10,"d":1e3,"e":0.1}',
  '{"a":"123456789012345678","b":"1e999"}',
  '{"a":1152921504606846976}',
  '{"a":',
])('%s is kept as it is', (text) => expect(nameOf(text)).toBeUndefined());

test.each([
  ['{"a":{"id":123456789012345678}}', 'id'],
  ['{"id":-9007199254740993}', 'id'],
  ['{"big":1e400}', 'big'],
  ['{"list":[1,9007199254740993]}', '1'],
])('%s is not', (text, name) => expect(nameOf(text)).toBe(name));
