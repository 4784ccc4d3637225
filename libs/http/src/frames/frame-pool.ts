import { expiry, type InternalKeys, signatureOf } from '@secrets/caller';
import type { ServiceResponse } from '../endpoint/service-response.ts';
import { replicaOrigins, type Secure } from '../replicas.ts';
import type { InternalTls } from '../tls/internal-tls.ts';
import { encodeFrame, fitsHead, maxFrameBody } from './frame.ts';
import { connectFrames, type FrameConnection, NotSupported } from './frame-connection.ts';
import { framesContext, type RequestHead } from './frame-head.ts';

export interface FramePoolOptions {
  /** The name of the service. */
  to: string;
  /** Its base URL, or those of its replicas, separated by commas. */
  url: string;
  keys: InternalKeys;
  timeoutMs: number;
  /** Without it, requests to a URL of HTTPS are sent over HTTP only: what is before the service may not know this protocol. */
  tls?: InternalTls | undefined;
}

/** A request of the gateway. */
type FramedRequest = Omit<RequestHead, 'exp'> & { body: Buffer | undefined };

/** Connections to a service that carry many requests each. */
export interface FramePool {
  /**
   * Sends a request to a replica. Resolves with undefined if it has to be sent over HTTP: it was not sent, or is a GET whose
   * response is large.
   * @throws {ConnectionLost} if there was no response: the request may have been served
   */
  send(request: FramedRequest): Promise<ServiceResponse | undefined>;
  close(): void;
}

/** Requests without a response on each connection, beyond which another connection is opened. */
const comfortableLoad = 32;
const maxConnections = 16;
const retryMs = 1_000;
/** Milliseconds for which requests are sent over HTTP, after a service has turned out not to support this protocol. */
const unsupportedMs = 30_000;

/** Opens connections as requests need them. Until one is open, requests are sent over HTTP. */
export function openFramePool({ to, url, keys, timeoutMs, tls }: FramePoolOptions): FramePool {
  const secure = tls && { tls, service: to };
  const connections = new FrameConnections(replicaOrigins(url, secure), secure);
  const key = keys.keyFor('gateway', to);
  const sign = (signed: Buffer) => signatureOf(key, framesContext, signed);
  return {
    send: async ({ body = none, ...head }) => {
      const connection = connections.next();
      if (connection === undefined || body.length > maxFrameBody) return undefined;
      const text = JSON.stringify({ exp: expiry(keys), ...head });
      if (!fitsHead(text)) return undefined;
      return connection.send((id) => encodeFrame(id, text, body, sign), timeoutMs);
    },
    close: () => connections.close(),
  };
}

const none = Buffer.alloc(0);

class FrameConnections {
  readonly #origins: readonly URL[];
  readonly #secure: Secure | undefined;
  readonly #mayConnect: boolean;
  #open: FrameConnection[] = [];
  #isConnecting = false;
  #connectAt = 0;
  #nextOrigin = 0;
  #isClosed = false;

  constructor(origins: readonly URL[], secure: Secure | undefined) {
    this.#origins = origins;
    this.#secure = secure;
    this.#mayConnect = secure !== undefined || origins.every(({ protocol }) => protocol === 'http:');
  }

  /** The one with the fewest requests; undefined if none is open. */
  next(): FrameConnection | undefined {
    let least: FrameConnection | undefined;
    if (this.#open.some(({ isOpen }) => !isOpen)) this.#open = this.#open.filter(({ isOpen }) => isOpen);
    for (const one of this.#open) if (least === undefined || one.load < least.load) least = one;
    const isShort =
      least === undefined || least.load >= comfortableLoad || this.#open.length < this.#origins.length;
    if (isShort && this.#open.length < maxConnections) this.#connect();
    return least;
  }

  close(): void {
    this.#isClosed = true;
    for (const connection of this.#open) connection.close();
  }

  #connect(): void {
    if (!this.#mayConnect || this.#isConnecting || this.#isClosed || performance.now() < this.#connectAt)
      return;
    this.#isConnecting = true;
    const origin = this.#origins[this.#nextOrigin++ % this.#origins.length]!;
    connectFrames(origin, this.#secure)
      .then((connection) => this.#add(connection))
      .catch((error: unknown) => {
        this.#connectAt = performance.now() + (error instanceof NotSupported ? unsupportedMs : retryMs);
      })
      .finally(() => {
        this.#isConnecting = false;
      });
  }

  #add(connection: FrameConnection): void {
    if (this.#isClosed) connection.close();
    else this.#open.push(connection);
  }
}
