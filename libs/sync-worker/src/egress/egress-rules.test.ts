import { describe, expect, test } from '@jest/globals';
import { parseRange, whyRefusedFor } from './egress-rules.ts';

const decide = (
  settings: Parameters<typeof whyRefusedFor>[1] = {},
  operator: { allow?: string[]; mayOpen?: string[] } = {},
) =>
  whyRefusedFor(
    { allow: (operator.allow ?? []).map(parseRange), mayOpen: (operator.mayOpen ?? []).map(parseRange) },
    settings,
  );

describe('by default', () => {
  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '169.254.170.2',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::7f00:1',
    '2002:7f00:1::',
    '2001:0:7f00:1::',
    '2001:db8::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'nonsense',
    '',
  ])('%s is refused', (address) => {
    expect(decide()(address, 443)).toBeDefined();
  });

  test.each(['8.8.8.8', '52.94.133.131', '2600:1f18::1', '::ffff:8.8.8.8'])(
    '%s is reached on 80 and 443 only',
    (address) => {
      expect(decide()(address, 443)).toBeUndefined();
      expect(decide()(address, 80)).toBeUndefined();
      expect(decide()(address, 8443)).toMatch(/port 8443/);
      expect(decide({ allowed_ports: [8443] })(address, 8443)).toBeUndefined();
    },
  );
});

describe('what the operator allows', () => {
  test('with a port: that port alone, for every destination', () => {
    const why = decide({}, { allow: ['127.0.0.1/32:9000', '[::1]/128:9001'] });
    expect(why('127.0.0.1', 9000)).toBeUndefined();
    expect(why('::ffff:127.0.0.1', 9000)).toBeUndefined();
    expect(why('::1', 9001)).toBeUndefined();
    expect(why('127.0.0.1', 443)).toBeDefined();
    expect(why('127.0.0.2', 9000)).toBeDefined();
    expect(
      decide({ disable_strict_networking: true }, { allow: ['127.0.0.1/32:9000'] })('127.0.0.1', 22),
    ).toBeDefined();
  });

  test('without a port: the usual ones and those of the destination', () => {
    const operator = { allow: ['10.0.0.0/8', 'fd00::/8'] };
    expect(decide({}, operator)('10.9.9.9', 443)).toBeUndefined();
    expect(decide({}, operator)('fd00::1', 443)).toBeUndefined();
    expect(decide({}, operator)('10.9.9.9', 9000)).toBeDefined();
    expect(decide({ allowed_ports: [9000] }, operator)('10.9.9.9', 9000)).toBeUndefined();
  });
});

describe('what a destination lists', () => {
  const requested = { allowed_ipv4_addresses: ['10.0.0.0/8', '169.254.169.254'], allowed_ports: [9000] };

  test('opens nothing inside by itself', () => {
    expect(decide(requested)('10.0.0.1', 443)).toMatch(/does not let destinations open it/);
    expect(decide({ disable_strict_networking: true })('127.0.0.1', 443)).toMatch(/does not let/);
  });

  test('opens what the operator lets destinations open, and no more', () => {
    const operator = { mayOpen: ['10.1.0.0/16'] };
    expect(decide(requested, operator)('10.1.0.1', 443)).toBeUndefined();
    expect(decide(requested, operator)('10.1.0.1', 9000)).toBeUndefined();
    expect(decide(requested, operator)('10.1.0.1', 22)).toBeDefined();
    expect(decide(requested, operator)('10.2.0.1', 443)).toBeDefined();
    expect(decide(requested, operator)('169.254.169.254', 80)).toBeDefined();
    expect(decide({}, operator)('10.1.0.1', 443)).toBeDefined();
    expect(decide({ disable_strict_networking: true }, operator)('10.1.0.1', 22)).toBeUndefined();
  });
});

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
])('%s is no range', (text) => {
  expect(() => parseRange(text)).toThrow(/is no address/);
});
