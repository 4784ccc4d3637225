import type * as https from 'node:https';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { nameMismatch } from './certificate-name.ts';
import { type InternalTls, internalMinVersion } from './internal-tls.ts';

/** TLS of a server, and the services that may connect to it. */
export interface CallerTls {
  tls: InternalTls;
  /** Their names, one of which must be a DNS name of the certificate that a client presents. */
  callers: Iterable<string>;
  /** Called with the reason for which a connection was refused, once a minute at most. */
  onRefused?: (reason: string) => void;
}

/** The options of a server whose clients `requireCallers` verifies. */
export const callerOptions = ({ tls }: CallerTls): TlsOptions => ({
  ...contextOf(tls),
  requestCert: true,
  rejectUnauthorized: false, // Node would close the connection without the reason
});

const contextOf = ({ identity }: InternalTls) => ({ ...identity, minVersion: internalMinVersion });

const reportMs = 60_000;

/**
 * Closes connections of anybody but the callers before anything is read from them, and follows changes of the certificate. To be
 * called before other listeners are added.
 */
export function requireCallers(server: https.Server, { tls, callers, onRefused }: CallerTls): void {
  let reportedAt = Number.NEGATIVE_INFINITY;
  const report = (reason: string) => {
    if (performance.now() - reportedAt < reportMs) return;
    reportedAt = performance.now();
    onRefused?.(reason);
  };
  const isRefused = (socket: TLSSocket): boolean => {
    const reason = whyRefused(socket, callers);
    if (reason !== undefined) report(reason);
    return reason !== undefined;
  };
  gate(server, isRefused);
  server.on('tlsClientError', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ECONNRESET') report(error.message); // such as a probe that only connects
  });
  const unfollow = tls.onChange(() => server.setSecureContext(contextOf(tls)));
  server.once('close', unfollow);
}

/** HTTP would read what has come with the handshake, even from a connection that a later listener closes. */
function gate(server: https.Server, isRefused: (socket: TLSSocket) => boolean): void {
  const serveHttp = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket: TLSSocket) => {
    if (isRefused(socket)) socket.destroy();
    else for (const serve of serveHttp) serve.call(server, socket);
  });
}

function whyRefused(socket: TLSSocket, callers: Iterable<string>): string | undefined {
  const presented = socket.getPeerX509Certificate();
  if (presented === undefined) return 'no certificate';
  if (!socket.authorized) return String(socket.authorizationError);
  return nameMismatch(presented.raw, callers)?.message;
}
