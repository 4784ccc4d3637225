import { expect, test } from '@jest/globals';
import { chooseCoding } from './content-coding.ts';

const all = { br: true, gzip: true, identity: true };

test.each([
  ['a client that names no coding', undefined, all, 'identity'],
  ['a client that refuses what it names', 'br;q=0, gzip; q=0', all, 'identity'],
  ['a weight that is no number', 'br;q=x', all, 'identity'],
  ['a coding that the build has not made', 'br', { identity: true }, 'identity'],
  ['an older client', 'gzip, deflate', all, 'gzip'],
  ['a browser', 'gzip, deflate, br, zstd', all, 'br'],
  ['any coding', '*', all, 'br'],
  ['any coding but one', 'BR;q=0, *;q=0.5', all, 'gzip'],
] as const)('%s gets the best coding that it accepts', (_, accepted, available, expected) => {
  expect(chooseCoding(accepted, available)).toBe(expected);
});
