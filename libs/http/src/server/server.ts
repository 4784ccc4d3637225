import { readFile } from 'node:fs/promises';
import * as http from 'node:http';
import * as https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FrameListener } from '../frames/serve-frames.ts';
import { acceptListVerb } from '../list-verb/list-verb.ts';
import { type CallerTls, callerOptions, requireCallers } from '../tls/require-callers.ts';
import { OpenConnections } from './open-connections.ts';
import { toOriginForm } from './origin-form.ts';
import { rejectUnparsed, type UnparsedRequest } from './unparsed-request.ts';

interface TlsFiles {
  /** Path of the PEM certificate chain. */
  certFile: string;
  /** Path of the PEM private key. */
  keyFile: string;
}

export interface ServerOptions {
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Serves HTTPS (TLS 1.2 or newer) if set. */
  tls?: TlsFiles;
  /** Serves HTTPS, to services that present their certificate. */
  callerTls?: CallerTls | undefined;
  /** Whether the verb `LIST` is accepted, see `acceptListVerb`. Default false. */
  listVerb?: boolean;
  /** How long a client may take to send a whole request, body included. Default 30,000. */
  requestTimeoutMs?: number;
  /** How long a client may take to send the header block, and to finish the TLS handshake. Default 10,000. */
  headersTimeoutMs?: number;
  /** How long an idle connection is kept open. Default 65,000: longer than the idle timeout of most load balancers, 60 s. */
  keepAliveTimeoutMs?: number;
  /** How long a connection may have no traffic, even while a response is being prepared. Default 120,000. */
  stallTimeoutMs?: number;
  /** Maximum size of the header block in bytes; a larger one gets 431. Default 16 KiB. */
  maxHeaderBytes?: number;
  /** Connections beyond this number are closed immediately, and so are then those that are idle. Unlimited by default. */
  maxConnections?: number;
  /** Paths that return 503 while the server drains, with any query, in addition to `/readyz`. */
  readyPaths?: readonly string[];
  /**
   * Called before the response to a request that is not valid HTTP. If it rejects, the connection is closed without a response.
   */
  onUnparsed?: ((request: UnparsedRequest) => Promise<void>) | undefined;
}

/**
 * For services behind the gateway: a request of 16 KiB carries its path once more, encoded, in the assertion about its caller.
 */
export const internalHeaderBytes = 64 * 1024;

export interface RunningServer {
  /** Base URL of the server, such as `https://127.0.0.1:8200`. */
  readonly url: string;
  readonly port: number;
  /**
   * Announces that the server will stop, and still serves every request: `/readyz`, and each of `readyPaths`, returns 503, and
   * each response closes its connection, so that clients connect elsewhere. `/readyz?serving` still asks for the dependencies.
   */
  drain(): void;
  /**
   * Accepts no new connections, closes idle ones immediately and completes requests in flight with
   * `Connection: close`; connections still open after `graceMs` are destroyed. Resolves when every connection is
   * closed. Can be called more than once.
   */
  stop(graceMs: number): Promise<void>;
  /** Reloads certificate and key for new connections. Rejects, and keeps the current ones, if they are unusable. */
  reloadTls(): Promise<void>;
}

/** Serves requests that ask for another protocol, as a handler's property `upgrades`. */
export interface Upgrades {
  /** Any other request is served as if it did not ask. */
  accepts(request: http.IncomingMessage): boolean;
  /** Responds to such a request, whose body is not read. `received` is what the client has sent after it. */
  respond(request: http.IncomingMessage, connection: Duplex, received: Buffer): http.ServerResponse;
}

const minVersion = 'TLSv1.2';

/**
 * Serves HTTP/1.1 with `handler`, such as an Express app, and resolves once it listens. Every phase of a connection
 * has a timeout, so that slow clients cannot hold connections indefinitely.
 * @throws if the port is in use or the TLS files are unusable
 */
export async function startServer(
  handler: http.RequestListener,
  options: ServerOptions,
): Promise<RunningServer> {
  const upgrades = upgradesOf(handler);
  const server = await createServer(options, upgrades);
  if (options.listVerb) acceptListVerb(server);
  rejectUnparsed(server, { maxHeaderBytes: limitsOf(options).maxHeaderSize, onUnparsed: options.onUnparsed });
  const connections = new OpenConnections(server);
  server.on('request', toOriginForm);
  server.on('request', handler);
  const frames = framesOf(handler);
  if (frames !== undefined) server.on('upgrade', frames.upgrade);
  if (upgrades !== undefined)
    server.on('upgrade', (request, connection, received) => {
      toOriginForm(request);
      connections.received(upgrades.respond(request, connection, received));
    });
  // An unknown expectation is ignored (RFC 9110, section 10.1.1); Node would respond with 417 and no body.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls || options.callerTls ? 'https' : 'http'}://${hostInUrl(options.host)}:${port}`,
    port,
    drain: () => {
      connections.drain();
      frames?.goAway();
      server.off('request', handler).on('request', unready(handler, options.readyPaths));
    },
    stop: (graceMs) => {
      frames?.goAway();
      return connections.stop(graceMs);
    },
    reloadTls: () => reloadTls(server, options.tls),
  };
}

/** Returns the handler's listener for connections that carry frames, if it has one. */
const framesOf = (handler: http.RequestListener): FrameListener | undefined =>
  'frames' in handler ? (handler.frames as FrameListener) : undefined;

const upgradesOf = (handler: http.RequestListener): Upgrades | undefined =>
  'upgrades' in handler ? (handler.upgrades as Upgrades) : undefined;

const unreadyText = JSON.stringify({
  initialized: true,
  ready: false,
  missing: ['this process, which is stopping'],
});

const unready =
  (handler: http.RequestListener, paths: readonly string[] = []): http.RequestListener =>
  (request, response) => {
    const url = request.url ?? '';
    const isReadiness = url === '/readyz' || paths.includes(url.split('?', 1)[0]!);
    if (!isReadiness) return handler(request, response);
    response.writeHead(503, { 'content-type': 'application/json' }).end(unreadyText);
  };

async function createServer(
  options: ServerOptions,
  upgrades: Upgrades | undefined,
): Promise<http.Server | https.Server> {
  const limits = {
    ...limitsOf(options),
    ...(upgrades && { shouldUpgradeCallback: upgrades.accepts }),
  };
  const tls = options.callerTls
    ? callerOptions(options.callerTls)
    : options.tls && (await readTls(options.tls));
  const server = tls
    ? https.createServer({ ...limits, ...tls, handshakeTimeout: limits.headersTimeout })
    : http.createServer(limits);
  if (options.callerTls && server instanceof https.Server) requireCallers(server, options.callerTls);
  server.setTimeout(options.stallTimeoutMs ?? 120_000);
  if (options.maxConnections !== undefined) limitConnections(server, options.maxConnections);
  return server;
}

const makeRoomAtMostEveryMs = 1_000;

/** Idle connections must not keep out new ones: a client that is still there connects again. */
function limitConnections(server: http.Server | https.Server, max: number): void {
  let lastAt = Number.NEGATIVE_INFINITY;
  server.maxConnections = max;
  server.on('drop', () => {
    if (performance.now() - lastAt < makeRoomAtMostEveryMs) return;
    lastAt = performance.now();
    server.closeIdleConnections();
  });
}

function limitsOf(options: ServerOptions) {
  const requestTimeout = options.requestTimeoutMs ?? 30_000;
  const headersTimeout = Math.min(options.headersTimeoutMs ?? 10_000, requestTimeout);
  return {
    requestTimeout,
    headersTimeout,
    keepAliveTimeout: options.keepAliveTimeoutMs ?? 65_000,
    // How often Node checks for timed-out requests: its default of 30 s would extend every timeout above.
    connectionsCheckingInterval: Math.min(headersTimeout, 1_000),
    maxHeaderSize: options.maxHeaderBytes ?? 16 * 1024,
    requireHostHeader: false, // Node would respond without a body; the gateway reports the missing header
  };
}

async function readTls({ certFile, keyFile }: TlsFiles) {
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  return { cert, key, minVersion } as const;
}

async function reloadTls(server: http.Server | https.Server, files: TlsFiles | undefined): Promise<void> {
  if (files && server instanceof https.Server) server.setSecureContext(await readTls(files));
}

function listen(server: http.Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

const hostInUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host);
