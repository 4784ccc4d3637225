import { randomUUID } from 'node:crypto';
import type * as http from 'node:http';
import { STATUS_CODES } from 'node:http';
import type * as https from 'node:https';
import type { Duplex } from 'node:stream';
import { errorCode } from '@secrets/domain';

/**
 * Answers what Node's parser refuses before any handler runs like every other refusal: `{"errors": […]}` and a
 * request id (docs/conventions.md#13-errors); by itself Node sends a status without a body. The connection is closed.
 * Where an answer is half written, nothing is added to it.
 */
export function rejectUnparsed(server: http.Server | https.Server, maxHeaderBytes: number): void {
  const lastResponse = new WeakMap<Duplex, http.ServerResponse>();
  server.on('request', (request, response) => lastResponse.set(request.socket, response));
  server.on('clientError', (error: Error, socket: Duplex) => {
    const response = lastResponse.get(socket);
    const isHalfWritten = response?.headersSent === true && !response.writableFinished;
    if (socket.writable && !isHalfWritten) socket.write(refusal(error, maxHeaderBytes));
    socket.destroy(error); // what was just written has been handed to the system by then
  });
}

function refusal(error: Error, maxHeaderBytes: number): string {
  const [status, sentence] = reasonOf(error, maxHeaderBytes);
  const body = JSON.stringify({ errors: [sentence] });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `x-request-id: ${randomUUID()}`,
    'cache-control: no-store',
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

function reasonOf(error: Error, maxHeaderBytes: number): [status: number, sentence: string] {
  switch (errorCode(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return [431, `the path and headers are over ${maxHeaderBytes / 1024} KiB`];
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return [413, 'the chunk extensions of the body are too long'];
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return [408, 'the request did not arrive in time'];
    default:
      return [400, 'the request is not valid HTTP, or its method is not known here'];
  }
}
