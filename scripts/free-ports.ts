import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ephemeral ports of outgoing connections (from 32768 on Linux, from 49152 elsewhere). */
const [lowest, highest] = [20_000, 32_000];
/**
 * Jest runs several test files at once: each worker has ports of its own, because a port is free again until the
 * program listens.
 */
const maxWorkers = 8;

function range(): [number, number] {
  const worker = Number(process.env.JEST_WORKER_ID ?? 0);
  const size = Math.floor((highest - lowest) / (maxWorkers + 1));
  const from = lowest + (worker % (maxWorkers + 1)) * size;
  return [from, from + size];
}

/** The ports that this process has returned: their programs may not listen yet. */
const returned = new Set<number>();

/**
 * Returns different ports of 127.0.0.1 on which no process listens, and never returns them again. Outgoing connections never
 * use them, so a program can still listen there later and after a restart.
 */
export async function freePorts(count: number): Promise<number[]> {
  const holders: Server[] = [];
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(...range());
    if (returned.has(port)) continue;
    returned.add(port);
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
