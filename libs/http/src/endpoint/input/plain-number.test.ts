import { expect, test } from '@jest/globals';
import { type ExactNumber, parseExactly } from '@secrets/domain';
import { plainNumber } from './plain-number.ts';

const parsed = (source: string) => plainNumber(parseExactly(source) as ExactNumber, 'a.0');

test.each(['1.0', '1e2', '-0', '0.10', '100e-2', '0e999', '0.000', '1E2', '1152921504606847e3'])(
  '%s is an ordinary number',
  (source) => expect(parsed(source)).toBe(Number(source)),
);

test.each([
  '9007199254740993',
  '1e400',
  '1e-400',
  '0.1234567890123456789',
  '1152921504606846976',
  `1${'0'.repeat(500_000)}1`,
])('%s is refused, because it would lose digits', (source) =>
  expect(() => parsed(source)).toThrow('a.0: the number would lose digits; send it as a string'),
);
