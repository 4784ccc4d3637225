import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Forwards connections to a service and counts the calls of its API. */
export interface CountingProxy {
  url: string;
  /** The verb of each call. */
  verbs: readonly string[];
  stop(): Promise<void>;
}

const requestLine = /([A-Z]+) \/v1\/\S* HTTP\/1\.1\r\n/g;
/** A request line that has not yet arrived as a whole. */
const unfinishedLine = /[^\n]*$/;

/** Whether calls with this verb change something. */
export const isWrite = (verb: string): boolean => !['GET', 'HEAD', 'LIST', 'OPTIONS'].includes(verb);

/**
 * Starts a proxy on a free port of the loopback interface. It forwards bytes, because the HTTP server of Node does not
 * parse the verb LIST.
 */
export async function startCountingProxy(target: string): Promise<CountingProxy> {
  const verbs: string[] = [];
  const open = new Set<Socket>();
  const { hostname, port } = new URL(target);
  const server = createServer((client) => {
    const service = connect(Number(port), hostname);
    for (const socket of [client, service]) {
      open.add(socket);
      socket.on('error', () => undefined); // the other end closes
    }
    client.on('close', () => service.destroy());
    service.on('close', () => client.destroy());
    client.on(
      'data',
      requestLines((verb) => verbs.push(verb)),
    );
    client.pipe(service).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    verbs,
    stop: async () => {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** Returns a listener that reports the verb of each request in the bytes of a connection. */
function requestLines(report: (verb: string) => void): (chunk: Buffer) => void {
  let rest = '';
  return (chunk) => {
    const text = rest + chunk.toString('latin1');
    for (const [, verb] of text.matchAll(requestLine)) report(verb!);
    rest = unfinishedLine.exec(text)?.[0] ?? '';
  };
}
