import { randomBytes } from 'node:crypto';
import { beforeAll } from '@jest/globals';
import type { Broker } from '@secrets/broker';
import { type Caller, signPermit } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { TestDb } from '@secrets/db/testing';
import type { Json } from '@secrets/domain';
import { serveForTest, type TestResponse, testCaller, testKeys } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { type KeyRing, parseKeyRing } from '@secrets/seal';
import { createMetrics, silentLogger } from '@secrets/telemetry';
import { useStarted } from '../../../libs/testing/src/use-started.ts';
import { createSecrets } from '../src/app.ts';

/** One process of the service, with a broker that records what is published. */
interface SecretsProcess {
  url: string;
  published: Json[];
  call(method: string, path: string, body?: unknown, caller?: Caller): Promise<TestResponse>;
  /** Calls an internal endpoint as sync-control, or as another service. */
  callInternal(path: string, body: unknown, from?: string): Promise<TestResponse>;
  /** Signs a text as sync-control. */
  permit(text: string): string;
  /** Starts the background work. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** The service on its own database. */
export interface SecretsForTest extends SecretsProcess {
  db: TestDb;
  /** Starts a second process on the same database. */
  startAnother(): Promise<SecretsProcess>;
}

export const callerIn = (namespaceId: string): Caller =>
  testCaller({ namespace: { id: namespaceId, path: namespaceId } });

export const callerWith = (...grants: Caller['grants']): Caller => testCaller({ grants, policies: [] });

/** The service for the tests of a file, with a mount `kv`. */
export function useSecrets(): Pick<SecretsForTest, 'db' | 'url' | 'call' | 'callInternal' | 'permit'> {
  const secrets = useStarted(startSecretsForTest, ({ stop }) => stop());
  beforeAll(() => secrets.call('POST', '/sys/mounts/kv', { type: 'kv' }));
  return {
    get db() {
      return secrets.db;
    },
    get url() {
      return secrets.url;
    },
    call: (...request) => secrets.call(...request),
    callInternal: (...request) => secrets.callInternal(...request),
    permit: (text) => secrets.permit(text),
  };
}

export async function startSecretsForTest(): Promise<SecretsForTest> {
  const db = await openTestDb();
  const keyRing = parseKeyRing(`test:${randomBytes(32).toString('base64')}`, 'test');
  const processes: SecretsProcess[] = [];
  const startAnother = async () => {
    const started = await startProcess(db, keyRing);
    processes.push(started);
    return started;
  };
  const first = await startAnother();
  return {
    ...first,
    db,
    startAnother,
    stop: async () => {
      for (const { stop } of processes) await stop();
      await db.close();
    },
  };
}

async function startProcess(db: Db, keyRing: KeyRing): Promise<SecretsProcess> {
  const published: Json[] = [];
  const keys = testKeys();
  const publish: Broker['publish'] = async (_queue, messages) => void published.push(...messages);
  const broker = { publish } as Broker; // the service calls nothing else
  const metrics = createMetrics('secrets', { processMetrics: false });
  const rowKeys = parseKeyRing(`r1:${randomBytes(32).toString('base64')}`, 'test');
  const deps = { db, broker, keyRing, keys, rowKeys, log: silentLogger(), metrics };
  const service = createSecrets(deps, { sweepSeconds: 0.05 });
  const served = await serveForTest(service.app, 'secrets', keys);
  return {
    url: served.url,
    published,
    call: served.call,
    callInternal: (path, body, from = 'sync-control') => served.call('POST', path, body, undefined, from),
    permit: (text) => signPermit(keys, { from: 'sync-control', to: 'secrets' }, testCaller(), text),
    start: service.start,
    stop: async () => {
      await service.stop();
      await served.stop();
    },
  };
}
