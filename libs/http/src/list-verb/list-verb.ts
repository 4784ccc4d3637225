import type * as http from 'node:http';
import { maxHeaderSize } from 'node:http';
import type * as https from 'node:https';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { RequestFraming } from './request-framing.ts';

/** The verb as which `LIST` reaches handlers: one that Node's parser accepts, with the same length and first letters. */
const listOnNode = 'LINK';

/** The verb of a request as the client sent it: undoes the renaming of `acceptListVerb`. */
export function operationOf(req: { method?: string | undefined }): string {
  return req.method === listOnNode ? 'LIST' : (req.method ?? '');
}

/**
 * Makes a server accept the verb `LIST`, which Node's parser rejects before any handler runs; handlers read it with
 * `operationOf`. `LIST` and `LINK` are swapped in the input, so the parser rejects a request with `LINK` with 400, as it does any
 * unknown verb. Bodies are never changed. On a connection whose framing is doubtful (see `RequestFraming`), nothing is
 * swapped, and `LIST` is rejected too.
 *
 * The sockets remain Node's own: timeouts, addresses, TLS state, backpressure and half-close are not affected. Call
 * this before the server listens.
 */
export function acceptListVerb(server: http.Server | https.Server): void {
  const connected = server instanceof TlsServer ? 'secureConnection' : 'connection';
  server.on(connected, (socket: Socket) => {
    swapVerbsOn(socket, new RequestFraming(framingRules(server)));
  });
}

function framingRules(server: http.Server | https.Server) {
  return {
    maxHeaderBytes: 'maxHeaderSize' in server ? Number(server.maxHeaderSize) || maxHeaderSize : maxHeaderSize,
    upgrades: server.listenerCount('upgrade') > 0,
  };
}

/**
 * Processes each chunk of input just before the parser does. Listening for `data` also makes the parser read from the
 * stream: otherwise Node attaches it to the socket's handle, where no listener sees the input.
 */
function swapVerbsOn(socket: Socket, framing: RequestFraming): void {
  const swap = (bytes: Buffer): void => {
    if (!framing.feed(bytes)) socket.removeListener('data', swap);
  };
  socket.prependListener('data', swap);
}
