import type { IncomingMessage } from 'node:http';

const absolute = /^https?:\/\/([^/?#@\\]+)([/?].*)?$/i;

/**
 * Replaces a target in absolute form, which clients send to a proxy, by its path, and the header Host by its host (RFC 9112,
 * section 3.2.2: every server must accept it, and ignore the header). Any other target stays as it is.
 */
export function toOriginForm(request: IncomingMessage): void {
  if (request.url === undefined || request.url.startsWith('/')) return;
  const [, host, rest = '/'] = absolute.exec(request.url) ?? [];
  if (host === undefined) return;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  request.headers.host = host;
}
