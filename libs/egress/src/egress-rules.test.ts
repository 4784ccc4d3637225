import { describe, expect, test } from '@jest/globals';
import { parseRange } from './address-range.ts';
import { whyRefusedFor } from './egress-rules.ts';

const decide = (
  settings: Parameters<typeof whyRefusedFor>[1] = {},
  operator: { allow?: string[]; mayOpen?: string[] } = {},
) =>
  whyRefusedFor(
    { allow: (operator.allow ?? []).map(parseRange), mayOpen: (operator.mayOpen ?? []).map(parseRange) },
    settings,
  );

describe('without any settings', () => {
  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '169.254.170.2',
    '100.64.0.1',
    '168.63.129.16',
    '::ffff:168.63.129.16',
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
  ])('refuses the address %j', (address) => {
    expect(decide()(address, 443)).toMatch(/address is not public|cannot be parsed/);
  });

  test.each(['8.8.8.8', '52.94.133.131', '2600:1f18::1', '::ffff:8.8.8.8'])(
    'permits %s on ports 80 and 443 and those in allowed_ports',
    (address) => {
      expect(decide()(address, 443)).toBeUndefined();
      expect(decide()(address, 80)).toBeUndefined();
      expect(decide()(address, 8443)).toMatch(/port 8443 is not allowed; add it to allowed_ports/);
      expect(decide({ allowed_ports: [8443] })(address, 8443)).toBeUndefined();
    },
  );
});

describe('EGRESS_ALLOW', () => {
  test('permits only the port of a range that has one', () => {
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

  test('permits ports 80 and 443 and those in allowed_ports for a range without a port', () => {
    const operator = { allow: ['10.0.0.0/8', 'fd00::/8'] };
    expect(decide({}, operator)('10.9.9.9', 443)).toBeUndefined();
    expect(decide({}, operator)('fd00::1', 443)).toBeUndefined();
    expect(decide({}, operator)('10.9.9.9', 9000)).toBeDefined();
    expect(decide({ allowed_ports: [9000] }, operator)('10.9.9.9', 9000)).toBeUndefined();
  });
});

describe('the lists of a destination', () => {
  const requested = { allowed_ipv4_addresses: ['10.0.0.0/8', '169.254.169.254'], allowed_ports: [9000] };

  test('permit no private address by themselves', () => {
    expect(decide(requested)('10.0.0.1', 443)).toMatch(/EGRESS_MAY_OPEN of the worker does not/);
    expect(decide({ disable_strict_networking: true })('127.0.0.1', 443)).toMatch(
      /EGRESS_MAY_OPEN of the worker does not/,
    );
  });

  test('permit private addresses within EGRESS_MAY_OPEN', () => {
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

describe('a refusal', () => {
  const operator = { allow: ['10.0.0.0/8'], mayOpen: ['192.168.1.0/24', '172.16.0.1:9000'] };
  const lists = { allowed_ipv4_addresses: ['192.168.0.0/16', '172.16.0.1'] };

  test.each([
    [
      'a private address',
      {},
      '127.0.0.1',
      443,
      /^its address is not public; .* EGRESS_ALLOW .* EGRESS_MAY_OPEN$/,
    ],
    [
      'a private address that the destination lists',
      lists,
      '192.168.2.1',
      443,
      /^its address .* EGRESS_MAY_OPEN/,
    ],
    ['a port of a public address', {}, '8.8.8.8', 22, /^port 22 is not allowed; add it to allowed_ports/],
    [
      'a port of an address in EGRESS_ALLOW',
      {},
      '10.0.0.1',
      22,
      /^port 22 is not allowed; add it to allowed_ports/,
    ],
    [
      'a port of an address in EGRESS_MAY_OPEN',
      lists,
      '192.168.1.1',
      22,
      /^port 22 .* add it to allowed_ports/,
    ],
    [
      'a port that only the operator can allow',
      lists,
      '172.16.0.1',
      443,
      /^port 443 .*EGRESS_ALLOW or EGRESS_MAY_OPEN/,
    ],
  ])('of %s says so and names the setting', (_case, settings, address, port, reason) => {
    const why = decide(settings, operator)(address, port);
    expect(why).toMatch(reason);
    expect(why).not.toContain(address);
  });
});
