import { connect, type Socket } from 'node:net';

/** A keep-alive connection that sends one request at a time. */
export interface Connection {
  /** Sends a complete request and calls back with the status of its response, or with what went wrong. */
  send(request: string, done: (outcome: number | Error) => void): void;
  close(): void;
}

const headEnd = '\r\n\r\n';
const lastChunk = '\r\n0\r\n\r\n';
const bufferBytes = 65_536;
const timeoutMs = 20_000;

/**
 * Opens a connection that understands as much of HTTP/1.1 as servers of JSON send: responses with a length or in
 * chunks. That costs a third of the CPU time of a complete client, which a load generator takes away from the server
 * that it measures.
 */
export function openConnection(url: URL): Connection {
  let received = '';
  let pending: ((outcome: number | Error) => void) | undefined;
  const finish = (outcome: number | Error) => {
    const done = pending;
    pending = undefined;
    received = '';
    done?.(outcome);
  };
  const buffer = Buffer.allocUnsafe(bufferBytes);
  const onData = (bytes: number) => {
    received += buffer.toString('latin1', 0, bytes);
    const status = completeStatus(received);
    if (status !== undefined) finish(status);
    return true;
  };
  const socket: Socket = connect({
    host: url.hostname,
    port: Number(url.port),
    noDelay: true,
    onread: { buffer, callback: onData },
  });
  socket.setTimeout(timeoutMs, () => finish(new Error(`no response within ${timeoutMs} ms`)));
  socket.on('error', (error) => finish(error));
  socket.on('close', () => finish(new Error('the server has closed the connection')));
  return {
    send: (request, done) => {
      pending = done;
      socket.write(request, 'latin1');
    },
    close: () => void socket.destroy(),
  };
}

/** Returns the status of a response that has arrived completely, otherwise undefined. */
export function completeStatus(received: string): number | undefined {
  const end = received.indexOf(headEnd);
  if (end < 0) return undefined;
  const status = Number(received.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(received.slice(0, end))?.[1];
  const bodyStart = end + headEnd.length;
  if (length !== undefined) return received.length >= bodyStart + Number(length) ? status : undefined;
  if (status === 204) return status;
  return received.endsWith(lastChunk) ? status : undefined;
}
