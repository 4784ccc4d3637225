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

/**
 * Starts a proxy to the server of a URL, on a free port of 127.0.0.1.
 * @param localAddress what the server sees as the address of its clients, such as `127.0.0.9`
 */
export async function startCutProxy(
  target: string,
  { localAddress }: { localAddress?: string | undefined } = {},
): Promise<CutProxy> {
  let to = addressOf(target);
  let isOpen = true;
  const line = new Line();
  const server = createServer((near) => {
    if (!isOpen) return near.destroy();
    line.join(near, connect({ ...to, ...(localAddress === undefined ? {} : { localAddress }) }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const socket of line.sockets) socket.destroy();
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
      line.freezesNew = isFrozen && withNew;
      for (const socket of line.sockets) isFrozen ? line.freeze(socket) : line.thaw(socket);
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

/** The connections of a proxy, and what currently applies to them. */
class Line {
  delayMs = 0;
  freezesNew = false;
  readonly sockets = new Set<Socket>();
  readonly #frozen = new Set<Socket>();

  /** Forwards between two sockets until one of them is closed. */
  join(near: Socket, far: Socket): void {
    for (const [from, into] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.sockets.delete(from);
        this.#frozen.delete(from);
        into.destroy();
      });
      this.#forward(from, into);
      if (this.freezesNew) this.freeze(from);
    }
  }

  freeze(socket: Socket): void {
    this.#frozen.add(socket);
    socket.pause();
  }

  thaw(socket: Socket): void {
    this.#frozen.delete(socket);
    socket.resume();
  }

  /** Forwards one direction, in order. Reads nothing more while data waits. */
  #forward(from: Socket, into: Socket): void {
    const goOn = () => {
      if (!this.#frozen.has(from)) from.resume();
    };
    const write = (chunk: Buffer) => {
      if (into.destroyed || into.write(chunk)) goOn();
      else into.once('drain', goOn);
    };
    from.on('data', (chunk: Buffer) => {
      from.pause();
      if (this.delayMs > 0) setTimeout(write, this.delayMs, chunk);
      else write(chunk);
    });
    from.on('end', () => into.end());
  }
}
