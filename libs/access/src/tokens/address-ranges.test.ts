import { expect, test } from '@jest/globals';
import { addressRanges, areRangesWithin, isAddressRange } from './address-ranges.ts';

test.each([
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3', '10.1.2.4', false],
  ['2001:db8::/32', '2001:db8::1', true],
  ['2001:db8::/32', '10.0.0.1', false],
  ['::/0', '10.0.0.1', false],
  ['0.0.0.0/0', '::1', false],
  ['nonsense', '10.0.0.1', false],
  ['10.0.0.0/8', '', false],
  ['10.0.0.0/8', 'fe80::1%eth0', false],
])('%s includes %s: %s', (range, address, isIncluded) => {
  expect(addressRanges([range]).includes(address)).toBe(isIncluded);
});

test.each([
  '010.0.0.0/8',
  '10.0.0.010',
  '0x0a.0.0.0/8',
  '0x0a000001',
  '167772161',
  '10.1/16',
  '10.0.0/8',
  '::ffff:010.0.0.1',
  'fe80::1%eth0',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/0x8',
])('%s is no range, because programs read it as different ones', (text) => {
  expect(isAddressRange(text)).toBe(false);
  expect(addressRanges([text]).size).toBe(0);
});

test.each(['10.0.0.1', '10.0.0.0/8', '0.0.0.0/0', '::1', '2001:DB8::/32', '::ffff:10.0.0.0/104'])(
  '%s is a range',
  (text) => expect(isAddressRange(text)).toBe(true),
);

test('an empty list includes no address', () => expect(addressRanges([]).includes('10.0.0.1')).toBe(false));

test.each([
  [['10.1.0.0/16'], ['10.0.0.0/8'], true],
  [['10.0.0.0/8'], ['10.0.0.0/8'], true],
  [['10.0.0.0/7'], ['10.0.0.0/8'], false],
  [['10.1.2.3', '::1'], ['10.0.0.0/8'], false],
  [['10.1.2.3', '::1'], ['10.0.0.0/8', '::/64'], true],
  [['::ffff:10.1.2.3'], ['10.0.0.0/8'], true],
  [['::/0'], ['0.0.0.0/0'], false],
  [['nonsense'], ['0.0.0.0/0', '::/0'], false],
  [['10.1.2.3'], [], false],
])('%j is within %j: %s', (inner, outer, within) => {
  expect(areRangesWithin(inner, outer)).toBe(within);
});
