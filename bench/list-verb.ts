// Prints what accepting the verb LIST costs: CPU time of a server with an empty handler, with and without it, in
// alternating runs over the same number of keep-alive connections.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { acceptListVerb } from '../libs/http/src/list-verb.ts';

const connections = 16;
const requestsEach = 2_000;
const pairs = 21;
const requests = Object.entries({
  'GET without body':
    'GET /v1/secret/data/app HTTP/1.1\r\nHost: bench\r\nAccept: */*\r\nX-Token: 0123456789\r\n\r\n',
  'POST of 200 bytes': `POST /v1/secret/data/app HTTP/1.1\r\nHost: bench\r\nContent-Length: 200\r\n\r\n${'x'.repeat(200)}`,
});

/** The server side, in a process of its own: answers the parent's `cpu` with the microseconds used so far. */
async function serve(withListVerb: boolean): Promise<void> {
  const server = createServer((_req, res) => res.end());
  if (withListVerb) acceptListVerb(server);
  process.on('message', () => process.send?.(cpuMicroseconds()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.send?.((server.address() as AddressInfo).port);
}

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

async function startSide(side: 'plain' | 'list') {
  const child = fork(fileURLToPath(import.meta.url), [side]);
  const [port] = (await once(child, 'message')) as [number];
  const cpu = async () => {
    child.send('cpu');
    return ((await once(child, 'message')) as [number])[0];
  };
  const run = async (request: string) => {
    const before = await cpu();
    await Promise.all(Array.from({ length: connections }, () => askInTurn(port, request)));
    return ((await cpu()) - before) / (connections * requestsEach);
  };
  return { run, stop: () => child.kill() };
}

/** Sends the request on one connection, again after each answer. */
function askInTurn(port: number, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    let left = requestsEach;
    socket.on('error', reject).on('close', () => resolve());
    socket.on('data', () => {
      if (--left > 0) socket.write(request);
      else socket.destroy();
    });
    socket.write(request);
  });
}

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

async function measure(): Promise<void> {
  const plain = await startSide('plain');
  const list = await startSide('list');
  for (const [name, request] of requests) {
    await plain.run(request);
    await list.run(request);
    const ratios: number[] = [];
    const costs: number[] = [];
    for (let pair = 0; pair < pairs; pair++) {
      const base = await plain.run(request);
      costs.push(base);
      ratios.push((await list.run(request)) / base);
    }
    console.log(
      `list-verb, ${name}: ratio ${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)} to ` +
        `${Math.max(...ratios).toFixed(3)}, ${pairs} pairs), empty handler ${median(costs).toFixed(1)} µs of CPU`,
    );
  }
  plain.stop();
  list.stop();
}

const side = process.argv[2];
await (side === undefined ? measure() : serve(side === 'list'));
