import type * as http from 'node:http';
import type * as https from 'node:https';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/** The open connections of a server and its responses in flight, so that it can stop without cutting off a response. */
export class OpenConnections {
  readonly #server: http.Server | https.Server;
  readonly #transports = new Set<Socket>(); // TCP, also before and during the TLS handshake
  readonly #streams = new Set<Socket>(); // what carries HTTP: the TCP socket itself, or the TLS stream on it
  readonly #responses = new Set<http.ServerResponse>();
  #stopped: Promise<void> | undefined;
  #isDraining = false;

  constructor(server: http.Server | https.Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => remember(this.#transports, socket));
    const ready = server instanceof TlsServer ? 'secureConnection' : 'connection';
    server.on(ready, (socket: Socket) => this.#opened(socket));
    server.on('request', (_req, res: http.ServerResponse) => this.received(res));
  }

  /** From now on, each response closes its connection. */
  drain(): void {
    this.#isDraining = true;
    for (const res of this.#responses) closeAfter(res);
  }

  /** See `RunningServer.stop`. Later calls wait for the first one and do not change its grace period. */
  stop(graceMs: number): Promise<void> {
    this.#stopped ??= this.#stop(graceMs);
    return this.#stopped;
  }

  async #stop(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const res of this.#responses) {
      closeAfter(res);
      res.emit('stopping'); // a response without an end, such as a stream of events, ends
    }
    for (const socket of this.#streams) destroyIfSilent(socket);
    this.#server.closeIdleConnections();
    const deadline = setTimeout(() => this.#destroyAll(), graceMs);
    await closed;
    clearTimeout(deadline);
  }

  #opened(socket: Socket): void {
    remember(this.#streams, socket);
    if (this.#stopped) socket.destroy();
  }

  /** Adds a response in flight. */
  received(res: http.ServerResponse): void {
    remember(this.#responses, res);
    if (this.#isDraining || this.#stopped) closeAfter(res);
    // A response whose headers were sent before the stop said keep-alive: its connection is idle from here on.
    res.once('close', () => this.#stopped && this.#server.closeIdleConnections());
  }

  #destroyAll(): void {
    for (const socket of this.#transports) socket.destroy();
  }
}

function remember<T extends Socket | http.ServerResponse>(open: Set<T>, item: T): void {
  open.add(item);
  item.once('close', () => open.delete(item));
}

function closeAfter(res: http.ServerResponse): void {
  if (!res.headersSent) res.setHeader('Connection', 'close');
}

/** Node does not consider a connection idle until its first request. */
function destroyIfSilent(socket: Socket): void {
  if (socket.bytesRead === 0) socket.destroy();
}
