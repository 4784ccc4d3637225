import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy for tests of lost connections. */
export interface CutProxy {
  /** The target's URL, through the proxy. */
  url: string;
  /** Breaks every connection, like a server that dies. */
  cut(): void;
  /** Breaks every connection, and refuses new ones until `open`. */
  close(): void;
  open(): void;
  /** While frozen, connections stay open and forward nothing; new ones too, if `withNew` is set. */
  freeze(isFrozen: boolean, options?: { withNew?: boolean }): void;
  /** From now on, each piece of data is forwarded after this many milliseconds, in both directions. */
  delay(ms: number): void;
  /** New connections lead to the server of this URL; open ones stay. */
  leadTo(target: string): void;
  end(): Promise<void>;
}

const defaultPorts: Record<string, number> = { 'amqp:': 5672, 'postgres:': 5432, 'postgresql:': 5432 };

function addressOf(target: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(target);
  return { host: hostname, port: Number(port || defaultPorts[protocol]) };
}

/** Starts a proxy to the server of a URL, on a free port of 127.0.0.1. */
export async function startCutProxy(target: string): Promise<CutProxy> {
  let to = addressOf(target);
  const sockets = new Set<Socket>();
  let isOpen = true;
  const line: Line = { isFrozen: false, delayMs: 0 };
  const server = createServer((near) => {
    if (!isOpen) return near.destroy();
    const far = connect(to);
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        into.destroy();
      });
      forward(line, from, into);
      if (line.isFrozen) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: Object.assign(new URL(target), {
      host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    }).toString(),
    cut,
    close: () => {
      isOpen = false;
      cut();
    },
    open: () => {
      isOpen = true;
    },
    freeze: (isFrozen, { withNew = false } = {}) => {
      line.isFrozen = isFrozen && withNew;
      for (const socket of sockets) isFrozen ? socket.pause() : socket.resume();
    },
    delay: (ms) => {
      line.delayMs = ms;
    },
    leadTo: (next) => {
      to = addressOf(next);
    },
    end: async () => {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** What currently applies to all connections of a proxy. */
interface Line {
  isFrozen: boolean;
  delayMs: number;
}

/** Forwards one direction, in order. Reads nothing more while data waits. */
function forward(line: Line, from: Socket, into: Socket): void {
  const goOn = () => {
    if (!line.isFrozen) from.resume();
  };
  const write = (chunk: Buffer) => {
    if (into.destroyed || into.write(chunk)) goOn();
    else into.once('drain', goOn);
  };
  from.on('data', (chunk: Buffer) => {
    from.pause();
    if (line.delayMs > 0) setTimeout(write, line.delayMs, chunk);
    else write(chunk);
  });
  from.on('end', () => into.end());
}
