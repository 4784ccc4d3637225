import { expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { waitForArrival } from './wait-for-arrival.ts';

const awaited = { namespaceId: 'n', mount: 'kv', secretName: 's', version: 1 };
test('64 clients of a namespace may wait, with one statement; one that disconnects makes room', async () => {
  const asked: unknown[][] = [];
  const db = {
    query: async (_text: string, values: unknown[]) => asked.push(values) && [{ place: 1 }, { place: 2 }],
  };
  const wait = waitForArrival(db as unknown as Db);
  const clients: AbortController[] = [];
  const start = (namespaceId = 'n') => {
    const client = new AbortController();
    clients.push(client);
    return wait({ ...awaited, namespaceId }, 60_000, client.signal);
  };
  const waits = Array.from({ length: 64 }, () => start());
  await expect(start()).rejects.toMatchObject({ kind: 'rate_limited' });
  waits.push(start('other'));
  clients[0]!.abort();
  await waits.shift();
  waits.push(start());
  while (asked.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(asked[0]).toEqual([['n', 'other'], ['kv', 'kv'], ['s', 's'], [1, 1], expect.anything()]);
  for (const client of clients) client.abort();
  await Promise.all(waits);
});

test('a wait ends in time, and at once for a client that has gone, although the database does not respond', async () => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const query = () => {
    resolve();
    return new Promise(() => undefined);
  };
  const wait = waitForArrival({ query } as unknown as Db);
  const waits = [wait(awaited, 60_000), wait(awaited, 60_000, AbortSignal.abort())];
  await waits.pop();
  await asked;
  await wait(awaited, 1);
});
