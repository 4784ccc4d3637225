import type * as http from 'node:http';
import type * as https from 'node:https';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** What is open on a server and in flight on it, so that it can be stopped without cutting off an answer. */
export class OpenConnections {
  readonly #server: http.Server | https.Server;
  readonly #transports = new Set<Socket>(); // TCP, also before and during the TLS handshake
  readonly #streams = new Set<Socket>(); // what carries HTTP: the same, or the TLS stream on it
  readonly #responses = new Set<http.ServerResponse>();
  #stopped: Promise<void> | undefined;

  constructor(server: http.Server | https.Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => remember(this.#transports, socket));
    const ready = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(ready, (socket: Socket) => this.#opened(socket));
    server.on('request', (_req, res: http.ServerResponse) => this.#asked(res));
  }

  /** See `RunningServer.stop`. The first call's grace counts. */
  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const res of this.#responses) closeAfter(res);
    for (const socket of this.#streams) destroyIfSilent(socket);
    this.#server.closeIdleConnections();
    const cutOff = setTimeout(() => this.#destroyAll(), graceMs);
    await closed;
    clearTimeout(cutOff);
  }

  #opened(socket: Socket): void {
    remember(this.#streams, socket);
    if (this.#stopped) socket.destroy();
  }

  #asked(res: http.ServerResponse): void {
    remember(this.#responses, res);
    if (this.#stopped) closeAfter(res);
    // An answer whose head was out before the stop said keep-alive: its connection is idle from here on.
    res.once('close', () => this.#stopped && this.#server.closeIdleConnections());
  }

  #destroyAll(): void {
    for (const socket of this.#transports) socket.destroy();
  }
}

function remember<T extends Socket | http.ServerResponse>(open: Set<T>, one: T): void {
  open.add(one);
  one.once('close', () => open.delete(one));
}

function closeAfter(res: http.ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}

/** Node does not count a connection as idle before its first request. */
function destroyIfSilent(socket: Socket): void {
  if (socket.bytesRead === 0) socket.destroy();
}
