import { EventEmitter } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { invalid, type Problem } from '@secrets/domain';
import { type WebSocket, WebSocketServer } from 'ws';

/** Bytes that a client may send in ten seconds: it has nothing to say except pings, pongs and the end. */
const maxSentBytes = 16_384;
const windowMs = 10_000;

/** Milliseconds between two pings. A client has as long to respond. */
const pingMs = 20_000;

/** Milliseconds that a client has to respond to the end of the connection. */
const closeMs = 1_000;

const closeCodes = { goingAway: 1001, unacceptable: 1008 } as const;

/** Throws `invalid` for a handshake that is not one of RFC 6455. */
export function requireHandshake({ headers, httpVersion }: IncomingMessage): void {
  const key = headers['sec-websocket-key'] ?? '';
  if (httpVersion !== '1.1' || !/^[+/0-9A-Za-z]{22}==$/.test(key))
    throw invalid('Sec-WebSocket-Key: must be 16 bytes in base64');
  if (headers['sec-websocket-version'] !== '13') throw invalid('Sec-WebSocket-Version: must be 13');
}

const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  autoPong: false,
  maxPayload: 1_024,
});

/** A WebSocket on which a client receives events. It emits `close` once, when nothing more can be sent. */
export class EventSocket extends EventEmitter<{ close: []; stopping: [] }> {
  readonly #maxUnreadMs: number;
  #socket: WebSocket | undefined;
  #connection: Duplex | undefined;
  #timers: NodeJS.Timeout[] = [];
  #isAlive = true;
  #hasEnded = false;

  constructor(maxUnreadMs = 15_000) {
    super();
    this.#maxUnreadMs = maxUnreadMs;
  }

  get headersSent(): boolean {
    return this.#socket !== undefined;
  }

  /** Begins with the response to the handshake. Returns whether the client is still there. */
  accept(
    request: IncomingMessage,
    { connection, received }: { connection: Duplex; received: Buffer },
  ): boolean {
    this.#connection = connection;
    server.handleUpgrade(request, connection, received, (socket) => this.#begin(socket, connection));
    return this.#socket !== undefined;
  }

  /**
   * Sends a message, and resolves when the system has taken it. A client that does not read for too long loses the connection.
   */
  async send(text: string): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || this.#hasEnded) return;
    const timer = setTimeout(() => socket.terminate(), this.#maxUnreadMs);
    await new Promise<void>((resolve) => socket.send(text, () => resolve()));
    clearTimeout(timer);
  }

  /** Ends the connection, because a process stops or, if there is a problem, because of that. */
  end(problem?: Problem): void {
    const isRefused = problem !== undefined && problem.kind !== 'unavailable';
    const code = isRefused ? closeCodes.unacceptable : closeCodes.goingAway;
    this.#close(code, problem?.sentences.join('; ').slice(0, 100) ?? 'stopping; connect again');
  }

  #begin(socket: WebSocket, connection: Duplex): void {
    this.#socket = socket;
    socket.on('error', () => undefined); // `ws` closes the connection with the code of the error
    socket.on('close', () => this.#closed());
    socket.on('message', () => this.#close(closeCodes.unacceptable, 'messages are not accepted'));
    socket.on('pong', () => {
      this.#isAlive = true;
    });
    socket.on('ping', (data) => {
      if (socket.bufferedAmount === 0) socket.pong(data);
    });
    this.#limit(connection);
    this.#timers.push(setInterval(() => this.#ping(socket), pingMs).unref());
  }

  #limit(connection: Duplex): void {
    let bytes = 0;
    connection.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxSentBytes) connection.destroy();
    });
    const forget = () => {
      bytes = 0;
    };
    this.#timers.push(setInterval(forget, windowMs).unref());
  }

  #ping(socket: WebSocket): void {
    if (!this.#isAlive) socket.terminate();
    else socket.ping();
    this.#isAlive = false;
  }

  #close(code: number, reason: string): void {
    if (this.#hasEnded || this.#socket === undefined) return;
    this.#hasEnded = true;
    this.#socket.close(code, reason);
    setTimeout(() => this.#socket?.terminate(), closeMs).unref();
  }

  #closed(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#hasEnded = true;
    this.#connection?.destroy();
    this.emit('close');
  }
}
