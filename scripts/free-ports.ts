import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below every port that a system gives to outgoing connections (from 32768 on Linux, from 49152 elsewhere). */
const [lowest, highest] = [20_000, 32_000];

/**
 * Different ports of 127.0.0.1 that nothing listens on at this moment. No outgoing connection takes one before the
 * program that it is meant for listens there, nor while that program is restarted.
 */
export async function freePorts(count: number): Promise<number[]> {
  const holders: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(lowest, highest);
    const holder = await listening(port);
    if (holder === undefined) continue;
    holders.push(holder);
    ports.push(port);
  }
  await Promise.all(holders.map((holder) => once(holder.close(), 'close')));
  return ports;
}

function listening(port: number): Promise<Server | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
