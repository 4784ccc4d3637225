import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { pathPrefix } from '../../request/gateway-request.ts';

/** Whether a request asks for a WebSocket, on a path that may have one. Any other upgrade is ignored, as RFC 9110 permits. */
export const asksForWebSocket = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' &&
  headers.upgrade?.toLowerCase() === 'websocket' &&
  url.startsWith(pathPrefix) &&
  url.includes('/events/subscribe/');

/**
 * The response to a request that asks for a WebSocket: an ordinary one, which closes the connection, unless `take` is called
 * before it begins.
 */
export class UpgradeResponse extends ServerResponse {
  readonly #connection: Duplex;
  readonly #received: Buffer;

  /** @param received what the client has sent after the request */
  constructor(request: IncomingMessage, connection: Duplex, received: Buffer) {
    super(request);
    this.#connection = connection;
    this.#received = received;
    connection.on('error', () => connection.destroy());
    connection.once('timeout', () => connection.destroy()); // Node no longer listens; the time is still that of the server
    connection.once('close', () => {
      if (this.destroyed) return;
      this.destroyed = true;
      this.emit('close');
    });
    this.shouldKeepAlive = false;
    this.assignSocket(request.socket);
    this.once('finish', () => connection.end(() => connection.destroy())); // a client need not end its half
  }

  /** Takes the connection away from the response. */
  take(): { connection: Duplex; received: Buffer } {
    this.detachSocket(this.req.socket);
    return { connection: this.#connection, received: this.#received };
  }
}
