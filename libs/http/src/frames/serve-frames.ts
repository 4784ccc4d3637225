import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  type InternalKeys,
  invalidAssertion,
  isExpired,
  isSignatureOf,
  signatureBytes,
} from '@secrets/caller';
import type { ReceivedRequest, ServeRequest } from '../endpoint/endpoint-server.ts';
import { problemResponse, type ServiceResponse } from '../endpoint/service-response.ts';
import { encodeFrame, type Frame, FrameReader, maxFrameBody, maxRequestFrame } from './frame.ts';
import { framesContext, framesProtocol, goAwayHead, overHttp, type RequestHead } from './frame-head.ts';
import { FrameWriter } from './frame-writer.ts';

export interface ServeFramesOptions {
  /** The name of this service. */
  service: string;
  keys: InternalKeys;
}

/** Serves the gateway's requests on connections that carry many at once. */
export interface FrameListener {
  /** Begins with a connection whose request asks for this protocol; any other upgrade is refused. */
  upgrade(request: IncomingMessage, socket: Socket, received: Buffer): void;
  /** Asks the gateways to use other connections. What they have sent is still served. */
  goAway(): void;
}

/** Requests of a connection that are served at the same time; further ones wait. */
const maxConcurrent = 256;

export function serveFrames(serve: ServeRequest, options: ServeFramesOptions): FrameListener {
  const open = new Set<FrameConnection>();
  let isLeaving = false;
  return {
    upgrade: (request, socket, received) => {
      socket.on('error', () => socket.destroy());
      if (request.headers.upgrade !== framesProtocol) return void socket.end(refusal('400 Bad Request'));
      if (isLeaving) return void socket.end(refusal('503 Service Unavailable'));
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${framesProtocol}\r\n\r\n`,
      );
      const connection = new FrameConnection(socket, serve, options);
      open.add(connection);
      socket.once('close', () => open.delete(connection));
      connection.receive(received);
    },
    goAway: () => {
      isLeaving = true;
      for (const connection of open) connection.goAway();
    },
  };
}

const refusal = (status: string): string =>
  `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;

class FrameConnection {
  readonly #socket: Socket;
  readonly #serve: ServeRequest;
  readonly #keys: InternalKeys;
  readonly #key: Buffer;
  readonly #reader = new FrameReader({ signatureBytes, maxBytes: maxRequestFrame });
  readonly #writer: FrameWriter;
  #serving = 0;
  #isEnding = false;

  constructor(socket: Socket, serve: ServeRequest, { service, keys }: ServeFramesOptions) {
    this.#socket = socket;
    this.#serve = serve;
    this.#keys = keys;
    this.#key = keys.keyFor('gateway', service);
    this.#writer = new FrameWriter(socket);
    socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, 10_000);
    socket.on('data', (chunk: Buffer) => this.receive(chunk));
    socket.on('drain', () => this.#resume());
    socket.on('end', () => {
      this.#isEnding = true;
      this.#endIfIdle();
    });
  }

  receive(chunk: Buffer): void {
    try {
      for (const frame of this.#reader.push(chunk)) void this.#respond(frame);
    } catch {
      this.#socket.destroy(); // not this protocol
    }
    if (this.#serving >= maxConcurrent || this.#socket.writableNeedDrain) this.#socket.pause();
  }

  goAway(): void {
    this.#writer.write(encodeFrame(0, goAwayHead, Buffer.alloc(0)));
  }

  async #respond(frame: Frame): Promise<void> {
    this.#serving += 1;
    try {
      if (this.#isSigned(frame)) {
        const request = requestIn(frame, this.#keys);
        this.#send(frame.id, request.method, await this.#serve(request));
      } else this.#send(frame.id, '', problemResponse(undefined, invalidAssertion()));
    } catch {
      this.#socket.destroy(); // not a request
    } finally {
      this.#serving -= 1;
      this.#resume();
      this.#endIfIdle();
    }
  }

  #isSigned({ signature, signed }: Frame): boolean {
    return isSignatureOf(signature, this.#key, framesContext, signed);
  }

  #send(id: number, method: string, { status, headers, text, eventStream }: ServiceResponse): void {
    const body = text === undefined ? none : Buffer.from(text);
    const mustUseHttp = method === 'GET' && (body.length > maxFrameBody || eventStream !== undefined);
    const head = mustUseHttp
      ? { status: overHttp, headers: {}, hasBody: false }
      : { status, headers, hasBody: text !== undefined };
    this.#writer.write(encodeFrame(id, JSON.stringify(head), mustUseHttp ? none : body));
  }

  /** The gateway sends nothing more. */
  #endIfIdle(): void {
    if (this.#isEnding && this.#serving === 0) this.#writer.end();
  }

  #resume(): void {
    if (this.#serving < maxConcurrent && !this.#socket.writableNeedDrain) this.#socket.resume();
  }
}

const none = Buffer.alloc(0);

/** Nothing is parsed that is not signed. */
function requestIn({ head, body }: Frame, keys: InternalKeys): ReceivedRequest {
  const { exp, caller, contentType, ...line } = JSON.parse(head.toString()) as RequestHead;
  return {
    ...line,
    body: body.length === 0 ? undefined : { contentType, read: async () => body },
    authenticate: (from) => {
      if (from !== 'gateway' || isExpired(exp, keys)) throw invalidAssertion();
      return caller;
    },
  };
}
