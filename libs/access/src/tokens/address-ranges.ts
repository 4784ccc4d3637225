import ipaddr from 'ipaddr.js';

type Range = ReturnType<typeof ipaddr.parseCIDR>;

/** Address ranges, parsed once. */
export interface AddressRanges {
  /** How many there are. */
  readonly size: number;
  /** Whether an address lies in one of them; IPv4 written as IPv6 (`::ffff:10.0.0.1`) counts as IPv4. */
  includes(address: string): boolean;
}

/** Parses CIDRs and single addresses. What cannot be parsed holds no address. */
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

/** Whether every address of some CIDRs and single addresses lies in one of others. What cannot be parsed lies nowhere. */
export function areRangesWithin(inner: readonly string[], outer: readonly string[]): boolean {
  const around = outer.map(parsedRange).filter((range) => range !== undefined);
  return inner
    .map(parsedRange)
    .every((range) => range !== undefined && around.some((wide) => isWithin(range, wide)));
}

const isWithin = ([address, bits]: Range, [wide, wideBits]: Range): boolean =>
  wide.kind() === address.kind() && bits >= wideBits && address.match(wide, wideBits);

const mappedBits = 96;

function parsedRange(text: string): Range | undefined {
  if (ipaddr.isValid(text)) {
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  }
  if (!ipaddr.isValidCIDR(text)) return undefined;
  const [address, bits] = ipaddr.parseCIDR(text);
  if (address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress() && bits >= mappedBits)
    return [address.toIPv4Address(), bits - mappedBits];
  return [address, bits];
}
