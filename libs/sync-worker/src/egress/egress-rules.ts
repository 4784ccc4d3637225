import ipaddr from 'ipaddr.js';
import { z } from 'zod';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Addresses, and the one port at which they may be reached; without a port, those of the destination. */
interface Range {
  base: Address;
  bits: number;
  port: number | undefined;
}

/** What an operator says of the network, for all destinations together. */
export interface OperatorRules {
  /** Always reachable, on the port named, or on 80, 443 and the destination's own ports. */
  allow: readonly Range[];
  /** Reachable for a destination that lists the address itself or has strict networking disabled. */
  mayOpen: readonly Range[];
}

const DestinationRules = z.object({
  allowed_ipv4_addresses: z.array(z.string()).default([]),
  allowed_ipv6_addresses: z.array(z.string()).default([]),
  allowed_ports: z.array(z.number()).default([]),
  disable_strict_networking: z.boolean().default(false),
});

/** The network fields of a destination's settings; the other settings are of no interest. */
export type DestinationRules = z.input<typeof DestinationRules>;

/** Why a connection is refused (a sentence that goes on after the host's name); undefined when it may be made. */
export type WhyRefused = (address: string, port: number) => string | undefined;

const usualPorts = [80, 443];
/** Public IPv6 is given out of this range alone; what lies outside only looks public. */
const globalIpv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Parses `10.0.0.0/8`, `127.0.0.1:9000`, `127.0.0.1/32:9000`, `fd00::/8`, `[fd00::]/8:443` and the like. Throws an
 * `Error` that names what is no address.
 */
export function parseRange(text: string): Range {
  const bracketed = /^\[([^\]]+)\](?:\/(\d{1,3}))?(?::(\d{1,5}))?$/.exec(text);
  const plain = /^(?:([\d.]+)(?:\/(\d{1,3}))?(?::(\d{1,5}))?|([\da-f:.]+)(?:\/(\d{1,3}))?)$/i.exec(text);
  const host = bracketed?.[1] ?? plain?.[1] ?? plain?.[4] ?? '';
  const bits = bracketed?.[2] ?? plain?.[2] ?? plain?.[5];
  const port = Number(bracketed?.[3] ?? plain?.[3] ?? 0);
  const base = ipaddr.isValid(host) && !/^\d+(\.\d+){0,2}$/.test(host) ? ipaddr.parse(host) : undefined;
  const widest = base?.kind() === 'ipv4' ? 32 : 128;
  if (!base || Number(bits ?? 0) > widest || port > 65_535) {
    throw new Error(
      `${text.slice(0, 64)} is no address, CIDR, or either with a port such as 127.0.0.1/32:9000 or [::1]/128:9000`,
    );
  }
  return { base, bits: bits === undefined ? widest : Number(bits), port: port === 0 ? undefined : port };
}

/**
 * Decides for one destination. By default only public unicast addresses on ports 80 and 443. `allowed_ports` opens
 * further ports; the lists of addresses and `disable_strict_networking` open inner addresses only as far as the
 * operator lets destinations do so (`mayOpen`): whoever may write a destination is not thereby let into the network
 * that the worker stands in.
 */
export function whyRefusedFor(operator: OperatorRules, settings: DestinationRules): WhyRefused {
  const rules = DestinationRules.parse(settings);
  const listed = [...rules.allowed_ipv4_addresses, ...rules.allowed_ipv6_addresses].map(parseRange);
  const isOpenPort = (port: number) =>
    rules.disable_strict_networking || usualPorts.includes(port) || rules.allowed_ports.includes(port);
  const matches = (address: Address, port: number) => (range: Range) =>
    contains(range, address) && (range.port === undefined ? isOpenPort(port) : range.port === port);

  return (text, port) => {
    const address = parsed(text);
    if (!address) return 'its address cannot be read';
    if (operator.allow.some(matches(address, port))) return undefined;
    const isRequested = rules.disable_strict_networking || listed.some((range) => contains(range, address));
    if (isRequested && operator.mayOpen.some(matches(address, port))) return undefined;
    if (!isPublic(address)) return isRequested ? notOpenable : notPublic;
    return isOpenPort(port)
      ? undefined
      : `port ${port} is not one of 80, 443 and the destination's allowed_ports`;
  };
}

const notPublic = 'its address is not a public one, and the operator has not allowed it';
const notOpenable = 'its address is not a public one, and the operator does not let destinations open it';

/** An address as what it really is: IPv4 mapped into IPv6 is IPv4. One with a zone is none. */
function parsed(text: string): Address | undefined {
  return text.includes('%') || !ipaddr.isValid(text) ? undefined : ipaddr.process(text);
}

function contains({ base, bits }: Range, address: Address): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}

/** Tunnels into IPv4 (6to4, Teredo, NAT64) have ranges of their own, hence are not unicast here. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(globalIpv6);
}
