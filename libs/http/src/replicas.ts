import { buildConnector, Pool } from 'undici';
import type { InternalTls } from './tls/internal-tls.ts';

/** Milliseconds that a replica has to accept a connection before another one is tried. */
const connectTimeoutMs = 2_000;

/**
 * Milliseconds for which an unused connection is kept. It is shorter than the drain of a stopping service, so that no request
 * is sent on a connection that is being closed. The pool measures it to about a second.
 */
const keepAliveMs = 3_000;

export interface ReplicaPoolOptions {
  connections: number;
  /** Of the headers, and of each pause in the body. */
  timeoutMs: number;
  /** Connections are secured by it, if present. */
  secure?: Secure | undefined;
}

/** TLS for connections to a service. */
export interface Secure {
  tls: InternalTls;
  /** The name of the service. */
  service: string;
}

/** The base URLs of a service: one, or several replicas, separated by commas. */
export const replicaUrls = (text: string): string[] => text.split(',').map((url) => url.trim());

/**
 * Opens keep-alive connections to the replicas of a service. Each new connection goes to the next replica. If that one does not
 * accept it, the others are tried in turn: nothing has been sent yet. A name with several addresses is treated like that by
 * Node.js itself.
 * @throws if connections are to be secured, and a URL is not one of HTTPS
 */
export function openReplicaPool(urls: string, { connections, timeoutMs, secure }: ReplicaPoolOptions): Pool {
  const origins = replicaOrigins(urls, secure);
  return new Pool(origins[0]!.origin, {
    connections,
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    connect: connectorTo(origins, secure),
  });
}

/** The URLs of the replicas. */
export function replicaOrigins(urls: string, secure: Secure | undefined): URL[] {
  const origins = replicaUrls(urls).map((url) => new URL(url));
  const plain = origins.find(({ protocol }) => protocol !== 'https:');
  if (secure !== undefined && plain !== undefined)
    throw new Error(`${plain.origin} must begin with https:, because INTERNAL_TLS_DIR is set`);
  return origins;
}

function connectorTo(origins: readonly URL[], secure: Secure | undefined): buildConnector.connector {
  const timeout = origins.length === 1 ? 5_000 : connectTimeoutMs;
  const open = () =>
    buildConnector({ timeout, allowH2: false, ...secure?.tls.clientOptions(secure.service) });
  let connect = open();
  secure?.tls.onChange(() => {
    connect = open();
  });
  let next = 0;
  return (options, callback) => {
    const first = next++;
    const attempt = (tried: number): void => {
      const { hostname, host, port, protocol } = origins[(first + tried) % origins.length]!;
      connect({ ...options, hostname, host, port, protocol }, (...result) => {
        if (result[0] !== null && tried + 1 < origins.length) return attempt(tried + 1);
        callback(...result);
      });
    };
    attempt(0);
  };
}
