import { randomBytes } from 'node:crypto';
import type { Caller, InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { serveForTest, type TestResponse, testCaller, testKeys } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { createLogger, createMetrics } from '@secrets/telemetry';
import { createLogin, ensureRootToken } from '../src/app.ts';

export interface LoginForTest {
  db: Db;
  keys: InternalKeys;
  /** Everything that was logged, level trace. */
  logged: () => string;
  /** The caller of the root token. */
  root: Caller;
  call: (method: string, path: string, body?: unknown, caller?: Caller) => Promise<TestResponse>;
  /** A caller as the gateway would make it for a token that was just issued. */
  callerOf: (answer: TestResponse, over?: Partial<Caller>) => Caller;
  epoch: () => Promise<number>;
  /** What the service answers outside of its API. */
  plain: (path: string) => Promise<{ paths: Record<string, unknown> }>;
  stop: () => Promise<void>;
}

/** The service on a database of its own, with a root token, called as the gateway would. */
export async function loginForTest({
  rootTokenFile,
  authorityUrl,
}: {
  rootTokenFile: string;
  authorityUrl?: string;
}): Promise<LoginForTest> {
  const db = await openTestDb();
  await ensureRootToken(db, { file: rootTokenFile });
  const lines: string[] = [];
  const log = createLogger({
    service: 'login',
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const keys = testKeys();
  const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
  const metrics = createMetrics('login', { processMetrics: false });
  const service = await createLogin({ db, keyRing, keys, log, metrics }, { authorityUrl });
  const served = await serveForTest(service.app, 'login', keys);
  const [rootRow] = await db.query<{ accessor: string }>(
    "select accessor from login.tokens where policies = '{root}'",
  );
  const root = testCaller({ accessor: rootRow!.accessor });
  return {
    db,
    keys,
    root,
    logged: () => lines.join(''),
    call: (method, path, body, caller = root) => served.call(method, path, body, caller),
    callerOf: ({ body: { auth } }, over = {}) =>
      testCaller({
        accessor: auth.accessor,
        policies: auth.policies,
        grants: ['create', 'read', 'update'],
        ...over,
      }),
    epoch: async () => (await db.query<{ value: number }>('select value from login.access_epoch'))[0]!.value,
    plain: async (path) =>
      (await fetch(`${served.url}${path}`)).json() as Promise<{ paths: Record<string, unknown> }>,
    stop: async () => {
      await service.stop();
      await served.stop();
      await db.close();
    },
  };
}
