import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** A CIDR, and the only port at which it may be reached. Without a port, the destination's own ports apply. */
export interface AddressRange {
  base: Address;
  bits: number;
  port: number | undefined;
}

/** Azure's WireServer: a host service of each machine, at an address from a public range. */
const hostServices = new Set(['168.63.129.16']);

/** Public IPv6 addresses are allocated from this range only; the others merely look public. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Parses `10.0.0.0/8`, `127.0.0.1:9000`, `127.0.0.1/32:9000`, `fd00::/8`, `[fd00::]/8:443` and the like.
 * @throws {Error} with the text, if it is not an address or CIDR
 */
export function parseRange(text: string): AddressRange {
  const bracketed = /^\[([^\]]+)\](?:\/(\d{1,3}))?(?::(\d{1,5}))?$/.exec(text);
  const plain = /^(?:([\d.]+)(?:\/(\d{1,3}))?(?::(\d{1,5}))?|([\da-f:.]+)(?:\/(\d{1,3}))?)$/i.exec(text);
  const host = bracketed?.[1] ?? plain?.[1] ?? plain?.[4] ?? '';
  const bits = bracketed?.[2] ?? plain?.[2] ?? plain?.[5];
  const port = Number(bracketed?.[3] ?? plain?.[3] ?? 0);
  // ipaddr.js alone would read 010.0.0.0 as octal.
  const base = isIP(host) === 0 ? undefined : ipaddr.parse(host);
  const maxBits = base?.kind() === 'ipv4' ? 32 : 128;
  if (!base || Number(bits ?? 0) > maxBits || port > 65_535) {
    throw new Error(
      `${text.slice(0, 64)} is not an address or CIDR, with or without a port, such as 127.0.0.1/32:9000 or [::1]/128:9000`,
    );
  }
  return { base, bits: bits === undefined ? maxBits : Number(bits), port: port === 0 ? undefined : port };
}

/**
 * Parses an address. IPv4 mapped into IPv6 is returned as IPv4, so that it matches IPv4 ranges. Returns undefined for
 * anything else, including an address with a zone.
 */
export function parseAddress(text: string): Address | undefined {
  return text.includes('%') || isIP(text) === 0 ? undefined : ipaddr.process(text);
}

/** Whether the range contains the address, whatever the port. */
export function contains({ base, bits }: AddressRange, address: Address): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}

/** Tunnels into IPv4 (6to4, Teredo, NAT64) have ranges of their own in ipaddr.js and are therefore not unicast here. */
export function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast' || hostServices.has(address.toString())) return false;
  return address.kind() === 'ipv4' || address.match(globalIpv6);
}
