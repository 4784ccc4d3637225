// Prints the cost of accepting the method LIST: CPU time of a server with an empty handler, with and without LIST, in
// alternating runs over the same number of keep-alive connections. `listened` is a server whose sockets have a listener for
// `data`: it shows the part of the cost that is Node's, for reading through a stream.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { acceptListVerb } from '../../libs/http/src/list-verb/list-verb.ts';
import { median } from '../load/statistics.ts';

const connections = 16;
const requestsEach = 2_000;
const turns = 15;
const requests = Object.entries({
  'GET without body':
    'GET /v1/secret/data/app HTTP/1.1\r\nHost: bench\r\nAccept: */*\r\nX-Token: 0123456789\r\n\r\n',
  'POST of 200 bytes': `POST /v1/secret/data/app HTTP/1.1\r\nHost: bench\r\nContent-Length: 200\r\n\r\n${'x'.repeat(200)}`,
});

/** Runs the server, in a process of its own. It replies to messages of its parent with its CPU time in µs. */
async function serve(side: string): Promise<void> {
  const server = createServer((_req, res) => res.end());
  if (side === 'list') acceptListVerb(server);
  if (side === 'listened') server.on('connection', (socket) => socket.on('data', () => {}));
  process.on('message', () => process.send?.(cpuMicroseconds()));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  process.send?.((server.address() as AddressInfo).port);
}

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

type Side = Awaited<ReturnType<typeof startSide>>;

async function startSide(side: string) {
  const child = fork(fileURLToPath(import.meta.url), [side]);
  const [port] = (await once(child, 'message')) as [number];
  const cpu = async () => {
    child.send('cpu');
    return ((await once(child, 'message')) as [number])[0];
  };
  const run = async (request: string) => {
    const before = await cpu();
    await Promise.all(Array.from({ length: connections }, () => sendSequentially(port, request)));
    return ((await cpu()) - before) / (connections * requestsEach);
  };
  return { run, stop: () => child.kill() };
}

/** Sends the request repeatedly on one connection, after each response. */
function sendSequentially(port: number, request: string): Promise<void> {
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

/** Returns the cost of each run of each side, in µs of CPU per request. The sides take turns. */
async function costsOf(sides: Side[], request: string): Promise<number[][]> {
  const costs: number[][] = sides.map(() => []);
  for (const side of sides) await side.run(request);
  for (let turn = 0; turn < turns; turn++) {
    for (const [at, side] of sides.entries()) costs[at]?.push(await side.run(request));
  }
  return costs;
}

function print(name: string, costs: number[], plain: number[]): void {
  const ratios = costs.map((cost, turn) => cost / (plain[turn] ?? Number.NaN));
  const fastest = Math.min(...costs) / Math.min(...plain);
  console.log(
    `${name}: ratio ${median(ratios).toFixed(2)} (median of ${turns} pairs), ${fastest.toFixed(2)} (fastest runs), ` +
      `${median(costs).toFixed(1)} µs`,
  );
}

async function measure(): Promise<void> {
  const names = ['plain', 'listened', 'list'];
  const sides = await Promise.all(names.map(startSide));
  for (const [what, request] of requests) {
    const costs = await costsOf(sides, request);
    for (const [at, name] of names.entries()) print(`${what}, ${name}`, costs[at] ?? [], costs[0] ?? []);
  }
  for (const side of sides) side.stop();
}

const side = process.argv[2];
await (side === undefined ? measure() : serve(side));
