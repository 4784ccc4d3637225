import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

type Range = ReturnType<typeof ipaddr.parseCIDR>;

/** Address ranges, parsed once. */
export interface AddressRanges {
  readonly size: number;
  /** Whether an address is in one of them. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) counts as IPv4. */
  includes(address: string): boolean;
}

/** Parses CIDRs and single addresses. Text that cannot be parsed contains no address. */
export function addressRanges(texts: readonly string[]): AddressRanges {
  const ranges = texts.map(parsedRange).filter((range) => range !== undefined);
  return {
    size: ranges.length,
    includes: (text) => {
      if (!ipaddr.isValid(text)) return false;
      const address = ipaddr.process(text);
      return ranges.some(([range, bits]) => range.kind() === address.kind() && address.match(range, bits));
    },
  };
}

/**
 * Whether each of the `inner` CIDRs and addresses is within one of the `outer` ones. Text that cannot be parsed is
 * within none.
 */
export function areRangesWithin(inner: readonly string[], outer: readonly string[]): boolean {
  const outerRanges = outer.map(parsedRange).filter((range) => range !== undefined);
  return inner
    .map(parsedRange)
    .every((range) => range !== undefined && outerRanges.some((wide) => isWithin(range, wide)));
}

const isWithin = ([address, bits]: Range, [wide, wideBits]: Range): boolean =>
  wide.kind() === address.kind() && bits >= wideBits && address.match(wide, wideBits);

/**
 * Whether a text is a CIDR or an address in the notation that all programs read alike: some take a number that begins with 0
 * or 0x as octal or hexadecimal (`010.0.0.0/8` as 8.0.0.0/8), others as decimal.
 */
export const isAddressRange = (text: string): boolean => parsedRange(text) !== undefined;

const mappedBits = 96;

function parsedRange(text: string): Range | undefined {
  const [host = '', ...prefix] = text.split('/');
  if (isIP(host) === 0 || host.includes('%')) return undefined;
  if (prefix.length === 0) {
    const address = ipaddr.process(host);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  if (!ipaddr.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= mappedBits)
    return [address.toIPv4Address(), bits - mappedBits];
  return [address, bits];
}
