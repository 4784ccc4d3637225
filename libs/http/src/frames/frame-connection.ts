import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Socket } from 'node:net';
import type { ServiceResponse } from '../endpoint/service-response.ts';
import type { Secure } from '../replicas.ts';
import { type Frame, FrameReader, maxResponseFrame } from './frame.ts';
import { framesProtocol, overHttp, type ResponseHead } from './frame-head.ts';
import { FrameWriter } from './frame-writer.ts';

/** There was no response, because the connection was lost or the service was too slow: the request may have been served. */
export class ConnectionLost extends Error {
  override readonly name: string = 'ConnectionLost';
}

/** The service did not respond in time. */
export class ResponseTimeout extends ConnectionLost {
  override readonly name = 'ResponseTimeout';
}

/** The service, or a proxy before it, does not know this protocol. */
export class NotSupported extends Error {
  override readonly name = 'NotSupported';
}

/** A request without a response so far. */
interface Pending {
  settle: { resolve: (response: ServiceResponse | undefined) => void; reject: (error: Error) => void };
  /** By the clock of `performance`. */
  deadline: number;
}

const connectTimeoutMs = 2_000;
const sweepMs = 1_000;
/** Milliseconds that the service has to close a connection that this side has ended. */
const endMs = 1_000;
/** A connection is replaced after this time, so that new replicas get their share. */
const maxAgeMs = 60_000;

/**
 * Connects to a service. Rejects if it is about to stop, or does not respond within 2 s.
 * @throws {NotSupported}
 */
export function connectFrames(origin: URL, secure?: Secure): Promise<FrameConnection> {
  const headers = { connection: 'Upgrade', upgrade: framesProtocol };
  const options = { agent: false, headers };
  const request =
    secure === undefined
      ? httpRequest(origin, options)
      : httpsRequest(origin, { ...options, ...secure.tls.clientOptions(secure.service) });
  const late = setTimeout(() => request.destroy(new Error('no response in time')), connectTimeoutMs);
  const { promise, resolve, reject } = Promise.withResolvers<FrameConnection>();
  request.once('upgrade', (_response, socket, received) =>
    resolve(new FrameConnection(socket as Socket, received)),
  );
  request.once('response', (response) => {
    response.destroy();
    const problem = `the service responded with status ${response.statusCode}`;
    reject(response.statusCode === 503 ? new Error(problem) : new NotSupported(problem));
  });
  request.on('error', reject);
  request.end();
  return promise.finally(() => clearTimeout(late));
}

/** A connection to a service that carries many requests at once. */
export class FrameConnection {
  readonly #socket: Socket;
  readonly #writer: FrameWriter;
  readonly #reader = new FrameReader({ signatureBytes: 0, maxBytes: maxResponseFrame });
  readonly #pending = new Map<number, Pending>();
  readonly #sweep: NodeJS.Timeout;
  readonly #retireAt = performance.now() + maxAgeMs * (0.75 + Math.random() / 2);
  #lastId = 0;
  #isOpen = true;

  constructor(socket: Socket, received: Buffer) {
    this.#socket = socket;
    this.#writer = new FrameWriter(socket);
    this.#sweep = setInterval(() => this.#checkTime(), sweepMs).unref();
    socket.setNoDelay(true).setKeepAlive(true, 10_000);
    socket.on('error', () => socket.destroy());
    socket.on('end', () => socket.destroy());
    socket.on('close', () => this.#closed());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    if (received.length > 0) this.#receive(received);
  }

  /** Whether further requests may be sent. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The number of requests without a response. */
  get load(): number {
    return this.#pending.size;
  }

  /**
   * Sends a request. Resolves with undefined if it has to be sent over HTTP.
   * @param encode returns the frame with this ID
   * @throws {ConnectionLost}
   */
  send(encode: (id: number) => Buffer, timeoutMs: number): Promise<ServiceResponse | undefined> {
    this.#lastId = (this.#lastId % 0xffff_fffe) + 1;
    const id = this.#lastId;
    const { promise, ...settle } = Promise.withResolvers<ServiceResponse | undefined>();
    this.#pending.set(id, { settle, deadline: performance.now() + timeoutMs });
    this.#writer.write(encode(id));
    return promise;
  }

  /** Sends no further requests, and closes the connection when all have a response. */
  retire(): void {
    this.#isOpen = false;
    this.#endIfIdle();
  }

  close(): void {
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#settle(frame);
    } catch {
      this.#socket.destroy();
    }
  }

  #settle({ id, head, body }: Frame): void {
    if (id === 0) this.retire();
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const { status, headers, hasBody } = JSON.parse(head.toString()) as ResponseHead;
    this.#pending.delete(id);
    pending.settle.resolve(
      status === overHttp ? undefined : { status, headers, text: hasBody ? body.toString() : undefined },
    );
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (this.#isOpen || this.#pending.size > 0) return;
    this.#writer.end();
    setTimeout(() => this.#socket.destroy(), endMs).unref();
  }

  /** A service that does not respond in time may be stuck, so this connection gets no further requests. */
  #checkTime(): void {
    const now = performance.now();
    if (this.#isOpen && now > this.#retireAt) this.retire();
    for (const [id, { deadline, settle }] of this.#pending) {
      if (deadline > now) break; // all have the same time
      this.#pending.delete(id);
      settle.reject(new ResponseTimeout('the service did not respond in time'));
      this.retire();
    }
  }

  #closed(): void {
    this.#isOpen = false;
    clearInterval(this.#sweep);
    for (const { settle } of this.#pending.values())
      settle.reject(new ConnectionLost('the connection was lost'));
    this.#pending.clear();
  }
}
