import type { IncomingMessage } from 'node:http';

const absolute = /^https?:\/\/([^/?#@\\]+)([/?].*)?$/i;

/**
 * Gives a request whose target is in absolute form, as clients send it to a proxy, the path as its target and the target's
 * host as its host (RFC 9112, section 3.2.2: every server must accept it, and ignore the header). Anything else stays as it is.
 */
export function toOriginForm(request: IncomingMessage): void {
  if (request.url === undefined || request.url.startsWith('/')) return;
  const [, host, rest = '/'] = absolute.exec(request.url) ?? [];
  if (host === undefined) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = host;
}
