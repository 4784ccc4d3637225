import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** A connection on which a test decides about every byte. Input and output are latin1 text. */
export interface RawConnection {
  readonly socket: Socket;
  send(text: string): void;
  /** Everything received, as soon as it matches; rejects when the connection closes before that. */
  received(pattern: RegExp): Promise<string>;
  /** Everything received by the time the server has closed the connection. */
  closed(): Promise<string>;
}

/** Connects to 127.0.0.1, with TLS when the certificate to trust is given. */
export async function openRaw(port: number, trusted?: string): Promise<RawConnection> {
  const socket = trusted
    ? connectTls({ port, host: '127.0.0.1', ca: trusted })
    : connect({ port, host: '127.0.0.1' });
  await once(socket, trusted ? 'secureConnect' : 'connect');
  return rawOn(socket.setNoDelay(true).setEncoding('latin1'));
}

function rawOn(socket: Socket): RawConnection {
  let text = '';
  let isClosed = false;
  socket.on('data', (more) => {
    text += more;
  });
  socket.on('error', () => {}); // the close that follows is what tests look at
  const closed = new Promise<string>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      resolve(text);
    });
  });
  const received = async (pattern: RegExp): Promise<string> => {
    while (!pattern.test(text)) {
      if (isClosed) throw new Error(`closed after ${JSON.stringify(text)}`);
      await Promise.race([new Promise((resolve) => socket.once('data', resolve)), closed]);
    }
    return text;
  };
  return { socket, send: (more) => socket.write(more, 'latin1'), received, closed: () => closed };
}
