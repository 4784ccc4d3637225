import type * as http from 'node:http';
import { maxHeaderSize } from 'node:http';
import type * as https from 'node:https';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import { RequestFraming } from './request-framing.ts';

/** The verb as which `LIST` reaches handlers: one that Node's parser knows, of the same length and beginning. */
export const listOnNode = 'LINK';

/** A request's verb as the client sent it: `LIST` again for what `acceptListVerb` had to rename. */
export function operationOf(req: { method?: string | undefined }): string {
  return req.method === listOnNode ? 'LIST' : (req.method ?? '');
}

/**
 * Makes a server accept the verb `LIST`, which Node's parser refuses before any handler runs; handlers see it
 * through `operationOf`. `LIST` and `LINK` change places on the way in, so a client's real `LINK` is what the
 * parser now refuses: 400, as for any unknown verb. Bodies are never touched. On a connection whose framing is
 * doubtful (see `RequestFraming`) nothing is changed any more and `LIST` is refused there as well.
 *
 * The server keeps its own sockets: timeouts, addresses, TLS state, backpressure and half-close stay Node's. Call
 * it before listening.
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
 * Sees each piece of input just before the parser does. Listening for `data` is also what makes the parser read
 * from the stream: otherwise Node lets it read from the socket's handle, past every listener.
 */
function swapVerbsOn(socket: Socket, framing: RequestFraming): void {
  const swap = (bytes: Buffer): void => {
    if (!framing.feed(bytes)) socket.removeListener('data', swap);
  };
  socket.prependListener('data', swap);
}
