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
  /** While frozen, connections stay open and forward nothing. */
  freeze(isFrozen: boolean): void;
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
      from.pipe(into);
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
    freeze: (isFrozen) => {
      for (const socket of sockets) isFrozen ? socket.pause() : socket.resume();
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
