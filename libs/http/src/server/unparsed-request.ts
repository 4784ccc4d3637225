import { randomUUID } from 'node:crypto';
import type * as http from 'node:http';
import { STATUS_CODES } from 'node:http';
import type * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { errorCode } from '@secrets/domain';

/**
 * Responds to requests that Node's parser rejects before any handler runs, in the same form as every other error:
 * `{"errors": […]}` and a request ID (docs/conventions.md#13-errors). Node alone would send a status without a body.
 * The connection is closed. Nothing is written into a response that is only partly sent.
 */
export function rejectUnparsed(server: http.Server | https.Server, maxHeaderBytes: number): void {
  const lastResponse = new WeakMap<Duplex, http.ServerResponse>();
  server.on('request', (request, response) => lastResponse.set(request.socket, response));
  server.on('clientError', (error: Error, socket: Duplex) => {
    const response = lastResponse.get(socket);
    const isPartlySent = response?.headersSent === true && !response.writableFinished;
    if (socket.writable && !isPartlySent) socket.write(errorResponse(error, maxHeaderBytes));
    socket.destroy(error); // what was just written is already in the kernel's send buffer
  });
}

function errorResponse(error: Error, maxHeaderBytes: number): string {
  const [status, message] = statusOf(error, maxHeaderBytes);
  const body = JSON.stringify({ errors: [message] });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${randomUUID()}`,
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
