import { createServer } from 'node:http';
import { afterEach, expect, test } from '@jest/globals';
import type { Pool } from 'undici';
import { openReplicaPool } from './replicas.ts';
import { type RunningServer, startServer } from './server/server.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startReplica(name: string): Promise<RunningServer> {
  const server = await startServer((_request, response) => response.end(name), {
    host: '127.0.0.1',
    port: 0,
  });
  closers.push(() => server.stop(0));
  return server;
}

/** The URL of a port at which nothing listens. */
async function refusingUrl(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

function open(...urls: string[]): Pool {
  const pool = openReplicaPool(urls.join(), { connections: 8, timeoutMs: 5_000 });
  closers.push(() => pool.destroy());
  return pool;
}

const ask = async (pool: Pool) => (await pool.request({ method: 'POST', path: '/', body: 'x' })).body.text();

test('new connections go to each replica in turn', async () => {
  const replicas = [await startReplica('one'), await startReplica('two')];
  const pool = open(...replicas.map(({ url }) => url));
  const answers = await Promise.all(Array.from({ length: 4 }, () => ask(pool)));
  expect(new Set(answers)).toEqual(new Set(['one', 'two']));
});

test('a replica that refuses a connection is left out, also for requests that must not be repeated', async () => {
  const { url } = await startReplica('one');
  const pool = open(await refusingUrl(), url, await refusingUrl());
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(pool)));
  expect(new Set(answers)).toEqual(new Set(['one']));
});

test('if every replica refuses, the request fails', async () => {
  await expect(ask(open(await refusingUrl(), await refusingUrl()))).rejects.toMatchObject({
    code: 'ECONNREFUSED',
  });
});

test('a replica that drains loses its connections, and no request', async () => {
  const [one, two] = [await startReplica('one'), await startReplica('two')];
  const pool = open(one.url, two.url);
  await Promise.all(Array.from({ length: 8 }, () => ask(pool)));
  one.drain();
  await Promise.all(Array.from({ length: 16 }, () => ask(pool)));
  await one.stop(0);
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(pool)));
  expect(new Set(answers)).toEqual(new Set(['two']));
});
