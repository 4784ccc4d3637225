import { isIP } from 'node:net';
import type { AddressRanges } from '@secrets/access';

/**
 * Returns the address of the client: that of the connection, or, if the connection comes from a trusted proxy, the last
 * address in `X-Forwarded-For` that is not a trusted proxy. Earlier addresses may be forged and are ignored.
 */
export function clientAddress(
  connection: string,
  forwardedFor: string | undefined,
  trusted: AddressRanges,
): string {
  let address = plain(connection);
  if (trusted.size === 0 || forwardedFor === undefined) return address;
  for (const hop of forwardedFor.split(',').reverse()) {
    const next = plain(hop.trim());
    if (!trusted.includes(address) || isIP(next) === 0) break;
    address = next;
  }
  return address;
}

const plain = (address: string): string =>
  address.startsWith('::ffff:') && address.includes('.') ? address.slice('::ffff:'.length) : address;
