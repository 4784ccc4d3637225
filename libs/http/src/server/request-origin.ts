import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';

// A page that somebody visits can make the browser send requests here: by the name of this machine, or by a name of its own
// that it lets resolve to this machine's address ("DNS rebinding"), with which it may also read the responses. The header Host
// says which name was used, and the headers Origin (RFC 6454) and Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/) say
// which page it was.

/** Returns why a request is refused; undefined if it is not. */
export type WhyForeign = (request: IncomingMessage) => string | undefined;

export interface OriginOptions {
  /**
   * Names and addresses by which clients reach this server, and of sites whose pages may change something here:
   * `ALLOWED_HOSTS`.
   */
  allowedHosts: readonly string[];
  /** Whether no other site may send requests to a path, even those that change nothing. */
  isGuarded?: (path: string) => boolean;
}

/**
 * Refuses requests by a name that is not this machine's own or an allowed one, and requests from pages of other sites, unless
 * they change nothing. Loopback addresses, `localhost`, the name of this machine and the address that the client has connected
 * to are its own.
 */
export function foreignRequests({ allowedHosts, isGuarded = () => false }: OriginOptions): WhyForeign {
  const names = new Set([hostname(), ...allowedHosts].map((name) => canonical(name.toLowerCase())));
  return (request) => {
    const { host, origin, 'sec-fetch-site': site } = request.headers;
    if (host !== undefined && !isOwn(hostOf(`http://${host}`), names, request))
      return `${nameIn(host)} is not a name of this service; if it is, add it to ALLOWED_HOSTS`;
    const changesNothing = request.method === 'GET' || request.method === 'HEAD';
    if (changesNothing && !isGuarded(request.url ?? '')) return undefined;
    const isForeign = site === 'cross-site' || (origin !== undefined && !isSameOrigin(origin, host));
    if (!isForeign || (origin !== undefined && allowedHosts.length > 0 && names.has(hostOf(origin) ?? '')))
      return undefined;
    return 'a page of another site may not send this request; if it may, add its host to ALLOWED_HOSTS';
  };
}

function isOwn(host: string | undefined, names: ReadonlySet<string>, { socket }: IncomingMessage): boolean {
  if (host === undefined) return false;
  return isLoopback(host) || names.has(host) || host === socket.localAddress?.replace(/^::ffff:/, '');
}

/**
 * Names below `localhost` are always of the loopback interface (RFC 6761, section 6.3), and the unspecified address, which a
 * server that listens everywhere shows as its own, leads to it.
 */
const isLoopback = (host: string): boolean =>
  unspecified.includes(host) ||
  host === 'localhost' ||
  host.endsWith('.localhost') ||
  host === '::1' ||
  /^127(\.\d{1,3}){3}$/.test(host);

/** The host of a URL in its one spelling, without the brackets of an IPv6 address; undefined if it is not a URL. */
function hostOf(url: string): string | undefined {
  const parsed = URL.parse(url);
  return parsed === null || parsed.host === '' ? undefined : canonical(parsed.hostname);
}

const canonical = (host: string): string => host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');

const isSameOrigin = (origin: string, host: string | undefined): boolean =>
  host !== undefined && URL.parse(origin)?.host === URL.parse(`http://${host}`)?.host;

const unspecified = ['0.0.0.0', '::'];

const maxCharacters = 100;

const nameIn = (host: string): string =>
  (hostOf(`http://${host}`) ?? 'the header Host').slice(0, maxCharacters);
