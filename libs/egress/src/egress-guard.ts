import { lookup as resolveName } from 'node:dns/promises';
import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { parseRange } from './address-range.ts';
import { type DestinationRules, whyRefusedFor } from './egress-rules.ts';
import type { Gate } from './gate.ts';
import { GuardedHttpAgent, GuardedHttpsAgent } from './guarded-agents.ts';
import {
  type BoundedFetch,
  type DocumentFetch,
  guardedDocumentFetch,
  guardedFetch,
} from './guarded-fetch.ts';

export interface EgressOptions {
  /** `EGRESS_ALLOW`: addresses that every destination may reach, CIDRs with an optional port such as `127.0.0.1/32:9000`. */
  allow?: readonly string[];
  /** `EGRESS_MAY_OPEN`: addresses that a destination may allow in its own lists, in the same form. */
  mayOpen?: readonly string[];
  /** Resolves a name to its addresses; defaults to the system's resolver. */
  resolve?: (host: string) => Promise<readonly string[]>;
}

/** The agents of one destination. */
export interface Egress {
  httpAgent: HttpAgent;
  /** For `https:` URLs; certificates are always verified. */
  httpsAgent: HttpsAgent;
  /**
   * For clients that take a `fetch`. Follows no redirects; a body that is compressed, or has too many bytes, levels or values,
   * and a silent server end the call.
   */
  fetch: BoundedFetch;
  close(): void;
}

/** Controls which network addresses the drivers can reach. */
export interface EgressGuard {
  /**
   * Returns agents that connect only where the operator and the destination allow. A name is resolved once per
   * connection, and the connection goes to an address that was checked, so changing the DNS answer afterwards has no
   * effect. A refused connection fails with `Fault` `forbidden`, a name without an address with `unavailable`. Agents
   * follow no redirects.
   *
   * `operatorEndpoint` is the URL that the operator configured in place of the provider's own endpoint. Its host and
   * port are permitted without further settings. Never pass a URL that comes from the destination's settings.
   */
  forDestination(settings: DestinationRules, operatorEndpoint?: string): Egress;
}

/**
 * Creates the guard.
 * @throws {Error} naming the entry, if one of the operator's lists contains anything but addresses
 */
export function createEgressGuard({
  allow = [],
  mayOpen = [],
  resolve = systemAddresses,
}: EgressOptions): EgressGuard {
  const operator = { allow: allow.map(parseRange), mayOpen: mayOpen.map(parseRange) };
  return {
    forDestination(settings, operatorEndpoint) {
      const isEndpoint = endpointMatcher(operatorEndpoint);
      const whyRefused = whyRefusedFor(operator, settings);
      const gate: Gate = {
        whyRefused: (host, address, port) => (isEndpoint(host, port) ? undefined : whyRefused(address, port)),
        resolve,
      };
      const httpAgent = new GuardedHttpAgent(gate);
      const httpsAgent = new GuardedHttpsAgent(gate);
      const guarded = guardedFetch(gate);
      return {
        httpAgent,
        httpsAgent,
        fetch: guarded.fetch,
        close() {
          httpAgent.destroy();
          httpsAgent.destroy();
          guarded.close();
        },
      };
    },
  };
}

/**
 * Returns functions that fetch documents at URLs of which the configuration has no lists of its own, only those of the operator.
 * @throws {Error} naming the entry, if the list contains anything but addresses
 */
export function guardedDocuments({
  allow = [],
  resolve = systemAddresses,
}: Omit<EgressOptions, 'mayOpen'>): (ca: string | undefined) => DocumentFetch {
  const whyRefused = whyRefusedFor({ allow: allow.map(parseRange), mayOpen: [] }, {});
  const gate: Gate = { whyRefused: (_host, address, port) => whyRefused(address, port), resolve };
  return (ca) => guardedDocumentFetch(gate, ca);
}

/** Compares host names, not addresses: another name that resolves to the endpoint's address is not the endpoint. */
function endpointMatcher(endpoint: string | undefined): (host: string, port: number) => boolean {
  if (endpoint === undefined) return () => false;
  const url = new URL(endpoint);
  const endpointHost = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const endpointPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  return (host, port) => host.toLowerCase() === endpointHost && port === endpointPort;
}

const systemAddresses = async (host: string): Promise<string[]> =>
  (await resolveName(host, { all: true })).map(({ address }) => address);
