import { expect, test } from '@jest/globals';
import { parseRange } from './address-range.ts';

test.each([
  '',
  'localhost',
  '10.0.0.0/33',
  '1',
  '10',
  '127.0.0.1:99999',
  '[::1]/129',
  'fd00::/8/9',
  '10.0.0.0/8:',
  '010.0.0.0/8',
  '10.0.0.010:443',
  '[::ffff:010.0.0.1]:443',
])('refuses %j as a range', (text) => {
  expect(() => parseRange(text)).toThrow(/is not an address or CIDR/);
});
