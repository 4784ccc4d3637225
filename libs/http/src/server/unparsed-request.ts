import { randomUUID } from 'node:crypto';
import type * as http from 'node:http';
import { STATUS_CODES } from 'node:http';
import type * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { errorCode } from '@secrets/domain';

/** A request that Node's parser rejects before any handler runs. */
export interface UnparsedRequest {
  requestId: string;
  /** Address of the connection. */
  remoteAddress: string;
  /** Status and sentence of the response. */
  status: number;
  reason: string;
}

export interface RejectUnparsedOptions {
  maxHeaderBytes: number;
  /** Called before the response; if it rejects, the connection is closed without one. */
  onUnparsed?: ((request: UnparsedRequest) => Promise<void>) | undefined;
}

/**
 * Responds to requests that Node's parser rejects before any handler runs, in the same form as every other error:
 * `{"errors": […]}` and a request ID (docs/conventions/http.md#errors). Node alone would send a status without a body.
 * The connection is closed once the client has stopped sending, or after two seconds: closed before, it loses the response
 * (https://www.rfc-editor.org/rfc/rfc9112#section-9.6). Nothing is written into a response that is only partly sent.
 */
export function rejectUnparsed(
  server: http.Server | https.Server,
  { maxHeaderBytes, onUnparsed }: RejectUnparsedOptions,
): void {
  const lastResponse = new WeakMap<Duplex, http.ServerResponse>();
  const refused = new WeakSet<Duplex>();
  const mayRespond = (socket: Duplex) => {
    const response = lastResponse.get(socket);
    const isPartlySent = response?.headersSent === true && !response.writableFinished;
    return socket.writable && !isPartlySent;
  };
  server.on('request', (request, response) => lastResponse.set(request.socket, response));
  server.on('clientError', async (error: Error, socket: Duplex) => {
    if (refused.has(socket)) return; // the parser reports every further chunk
    refused.add(socket);
    if (mayRespond(socket)) {
      const request = describe(error, socket, maxHeaderBytes);
      const isReported = await (onUnparsed?.(request) ?? Promise.resolve()).then(yes, no);
      if (isReported && mayRespond(socket)) return endAfter(socket, errorResponse(request));
    }
    socket.destroy(error);
  });
}

const maxLingerMs = 2_000;

/** Sends the last response of a connection, and reads and drops what the client still sends. */
function endAfter(socket: Duplex, response: string): void {
  const timer = setTimeout(() => socket.destroy(), maxLingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.once('end', () => socket.destroy());
  socket.end(response);
  socket.resume();
}

const yes = () => true;
const no = () => false;

function describe(error: Error, socket: Duplex, maxHeaderBytes: number): UnparsedRequest {
  const [status, reason] = statusOf(error, maxHeaderBytes);
  const remoteAddress = 'remoteAddress' in socket ? String(socket.remoteAddress) : '';
  return { requestId: randomUUID(), remoteAddress, status, reason };
}

function errorResponse({ requestId, status, reason }: UnparsedRequest): string {
  const body = JSON.stringify({ errors: [reason] });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${requestId}`,
    'cache-control: no-store',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

function statusOf(error: Error, maxHeaderBytes: number): [status: number, message: string] {
  switch (errorCode(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, `the path and headers exceed ${maxHeaderBytes / 1024} KiB`];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'the chunk extensions of the body are too long'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'the request did not arrive in time'];
    default:
      return [400, 'invalid HTTP request or unsupported method'];
  }
}
