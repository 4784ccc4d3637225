import { isIP } from 'node:net';
import type { AddressRanges } from '@secrets/access';

/**
 * The address from which a request really came: the connection's, or, when that one is a trusted proxy, the last one
 * in `X-Forwarded-For` that is not. What a client wrote in front of it is not believed.
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
