import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A connection on which a test controls every byte. Input and output are latin1 text. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string): void;
  /** Resolves with everything received as soon as it matches; rejects if the connection closes first. */
  received(pattern: RegExp): Promise<string>;
  /** Resolves with everything received when the connection is closed. */
  closed(): Promise<string>;
}

/** Connects to 127.0.0.1, with TLS if a certificate to trust is passed. */
export async function openRaw(port: number, trusted?: string): Promise<RawConnection> {
  const socket = trusted
    ? connectTls({ port, host: '127.0.0.1', ca: trusted })
    : connect({ port, host: '127.0.0.1' });
  await once(socket, trusted ? 'secureConnect' : 'connect');
  return rawOn(socket.setNoDelay(true).setEncoding('latin1'));
}

function rawOn(socket: Socket): RawConnection {
  let text = '';
  socket.on('data', (more) => {
    text += more;
  });
  socket.on('error', () => {}); // tests wait for the close that follows
  const closing = new AbortController();
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => {
      closing.abort();
      resolve(text);
    });
  });
  const received = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(text)) {
      await once(socket, 'data', { signal: closing.signal }).catch((cause: unknown) => {
        throw new Error(`closed after ${JSON.stringify(text)}`, { cause });
      });
    }
    return text;
  };
  return { socket, send: (more) => socket.write(more, 'latin1'), received, closed: () => closed };
}
