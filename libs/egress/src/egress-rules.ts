import { z } from 'zod';
import {
  type Address,
  type AddressRange,
  contains,
  isPublic,
  parseAddress,
  parseRange,
} from './address-range.ts';

/** The operator's rules for all destinations. */
export interface OperatorRules {
  /** `EGRESS_ALLOW`: always reachable, on the range's port, or on 80, 443 and the destination's own ports. */
  allow: readonly AddressRange[];
  /** `EGRESS_MAY_OPEN`: reachable for a destination that lists the address itself or has strict networking disabled. */
  mayOpen: readonly AddressRange[];
}

const DestinationRules = z.object({
  allowed_ipv4_addresses: z.array(z.string()).default([]),
  allowed_ipv6_addresses: z.array(z.string()).default([]),
  allowed_ports: z.array(z.number()).default([]),
  disable_strict_networking: z.boolean().default(false),
});

/** The network fields of a destination's settings; other fields are ignored. */
export type DestinationRules = z.input<typeof DestinationRules>;

/**
 * Returns why a connection to an address and port is refused, and which setting permits it: a clause that follows
 * "connection to <host> refused: ". Returns undefined if the connection is permitted. The clause never contains the
 * address, because the owner of a destination must not learn what the worker resolves a name to.
 */
export type WhyRefused = (address: string, port: number) => string | undefined;

const standardPorts = [80, 443];

/**
 * Returns the decision for one destination (docs/adr/0008-egress-lists.md). By default, only public unicast addresses
 * on ports 80 and 443 are permitted. `allowed_ports` permits further ports. The destination's address lists and
 * `disable_strict_networking` permit private addresses only within `mayOpen`: the right to write a destination must not
 * give access to the worker's own network.
 */
export function whyRefusedFor(operator: OperatorRules, settings: DestinationRules): WhyRefused {
  const rules = DestinationRules.parse(settings);
  const listed = [...rules.allowed_ipv4_addresses, ...rules.allowed_ipv6_addresses].map(parseRange);
  const isOpenPort = (port: number) =>
    rules.disable_strict_networking || standardPorts.includes(port) || rules.allowed_ports.includes(port);
  const permits = (range: AddressRange, port: number) =>
    range.port === undefined ? isOpenPort(port) : range.port === port;

  return (text, port) => {
    const address = parseAddress(text);
    if (!address) return 'its address cannot be parsed';
    const isListed = rules.disable_strict_networking || listed.some((range) => contains(range, address));
    const ranges = rangesOf(operator, address, isListed);
    if (ranges.some((range) => permits(range, port))) return undefined;
    if (isPublic(address)) return isOpenPort(port) ? undefined : closedPort(port);
    if (ranges.length === 0) return privateAddress(isListed);
    return ranges.some((range) => range.port === undefined) ? closedPort(port) : operatorsPort(port);
  };
}

/** The operator's ranges that contain the address and apply to the destination. */
const rangesOf = ({ allow, mayOpen }: OperatorRules, address: Address, isListed: boolean): AddressRange[] =>
  [...allow, ...(isListed ? mayOpen : [])].filter((range) => contains(range, address));

const closedPort = (port: number): string =>
  `port ${port} is not allowed; add it to allowed_ports of the destination`;

const operatorsPort = (port: number): string =>
  `port ${port} is not allowed; EGRESS_ALLOW or EGRESS_MAY_OPEN of the worker allows this address on other ports only`;

const privateAddress = (isListed: boolean): string =>
  isListed
    ? 'its address is not public, and EGRESS_MAY_OPEN of the worker does not let destinations allow it'
    : 'its address is not public; the operator can allow it with EGRESS_ALLOW of the worker, or let the destination allow it in allowed_ipv4_addresses or allowed_ipv6_addresses with EGRESS_MAY_OPEN';
