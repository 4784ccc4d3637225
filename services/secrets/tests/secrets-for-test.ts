import { randomBytes } from 'node:crypto';
import type { Broker } from '@secrets/broker';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { Json } from '@secrets/domain';
import { serveForTest, type TestResponse, testCaller, testKeys } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { createSecrets } from '../src/app.ts';

/** The service on a database of its own, with a broker that records what is published. */
export interface SecretsForTest {
  db: Db;
  url: string;
  published: Json[];
  call(method: string, path: string, body?: unknown, caller?: Caller): Promise<TestResponse>;
  ask(path: string, body: unknown): Promise<TestResponse>;
  /** A second process on the same database. */
  another(): Promise<Omit<SecretsForTest, 'another' | 'db'>>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export const namespaced = (id: string): Caller => testCaller({ namespace: { id, path: id } });

export async function startSecretsForTest(): Promise<SecretsForTest> {
  const db = await openTestDb();
  const keyRing = parseKeyRing(`test:${randomBytes(32).toString('base64')}`, 'test');
  const others: (() => Promise<void>)[] = [];
  const first = await serve(db, keyRing);
  return {
    db,
    ...first,
    another: async () => {
      const other = await serve(db, keyRing);
      others.push(other.stop);
      return other;
    },
    stop: async () => {
      for (const stop of [...others, first.stop]) await stop();
      await db.close();
    },
  };
}

async function serve(db: Db, keyRing: ReturnType<typeof parseKeyRing>) {
  const published: Json[] = [];
  const keys = testKeys();
  const publish: Broker['publish'] = async (_queue, messages) => void published.push(...messages);
  const broker = { publish } as Broker; // the service publishes and does nothing else with it
  const metrics = createMetrics('secrets', { processMetrics: false });
  const deps = { db, broker, keyRing, keys, log: silentLogger(), metrics };
  const service = createSecrets(deps, { sweepSeconds: 0.05 });
  const served = await serveForTest(service.app, 'secrets', keys);
  return {
    url: served.url,
    published,
    call: served.call,
    ask: (path: string, body: unknown) => served.call('POST', path, body, undefined, 'sync-control'),
    start: service.start,
    stop: async () => {
      await service.stop();
      await served.stop();
    },
  };
}

/** Waits until `reached` holds. Throws after a minute. */
export async function eventually(reached: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await reached())) {
    if (Date.now() > end) throw new Error('it did not come to be within a minute');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
