import { existsSync } from 'node:fs';
import { type Broker, openRabbit } from '@secrets/broker';
import { readInternalKeys } from '@secrets/caller';
import { checkDatabase, type Db, openPostgres } from '@secrets/db';
import { workerOf } from '@secrets/domain';
import { createEgressGuard } from '@secrets/egress';
import { type InternalTls, internalClient, operatorApp } from '@secrets/http';
import { openKeys } from '@secrets/key-service';
import type { KeyRing } from '@secrets/seal';
import { requireSealKeys, SealKeyError } from '@secrets/seal-rotation';
import { openInternalTls, runService, serve } from '@secrets/service';
import type { Logger } from '@secrets/telemetry';
import type { z } from 'zod';
import type { Driver } from '../driver/driver.ts';
import { type ImportWriter, importWriter, isImported, noImportWriter } from '../look/import/import-writer.ts';
import { type IdentityTokens, identityTokens, noIdentityTokens } from './identity-tokens.ts';
import { createSyncWorker } from './sync-worker.ts';
import { type WorkerEnv, workerConfig } from './worker-env.ts';

/** Runs the process of a worker. Only the driver and its settings differ between destination types. */
export const runWorker = <Schema extends z.ZodType<WorkerEnv>>(
  service: string,
  Env: Schema,
  driverOf: (env: z.infer<Schema>) => Driver,
): Promise<void> =>
  runService(service, Env, async (started) => {
    const { env, log, metrics, onStop } = started;
    const url = env.DATABASE_URL;
    const db = openPostgres({ url, connections: 6, lockTimeoutMs: 10_000, applicationName: service });
    onStop(db.close);
    const unblockedDb = openPostgres({ url, connections: 4, applicationName: service });
    onStop(unblockedDb.close);
    const broker = openRabbit({ url: env.AMQP_URL, log });
    onStop(() => broker.close());
    const options = { host: env.HOST, port: env.INTERNAL_PORT };
    const keyRing = await openKeys(started, 'the seal keys', { file: env.SEAL_KEY_FILE, server: options });
    await checkSealKeys(unblockedDb, keyRing, log);
    const egress = createEgressGuard({ allow: env.EGRESS_ALLOW, mayOpen: env.EGRESS_MAY_OPEN });
    const driver = driverOf(env);
    const calls = { db, tls: await openInternalTls(started), log, onStop };
    const worker = createSyncWorker(
      driver,
      {
        db,
        unblockedDb,
        broker,
        keyRing,
        egress,
        log,
        metrics,
        identityTokens: tokensFor(driver, env, calls),
        imports: importsOf(driver, env, calls),
      },
      workerConfig(env),
    );
    const app = operatorApp({ metrics, readiness: readiness(db, broker), databaseTime: db.now });
    await serve({ app, ...worker }, options, { log, onStop }, { isForOperators: true });
  });

/**
 * Workers decrypt the values of secrets and the credentials of sync-control. Without the database, or before these services
 * have created their tables, a worker starts without this check.
 * @throws {SealKeyError} if a key is missing that may be needed
 */
async function checkSealKeys(db: Db, keyRing: KeyRing, log: Logger): Promise<void> {
  await requireSealKeys(db, ['secrets', 'sync'], keyRing).catch((error: unknown) => {
    if (error instanceof SealKeyError) throw error;
    log.warn({ error }, 'the seal keys could not be checked');
  });
}

/** For calls of other services. */
interface Calls {
  db: Db;
  tls: InternalTls | undefined;
  log: Logger;
  onStop: (close: () => Promise<void>) => void;
}

function tokensFor(
  { type }: Driver,
  { INTERNAL_KEY_FILE: keyFile, LOGIN_URL: url }: WorkerEnv,
  { db, tls, onStop }: Calls,
): IdentityTokens {
  if (keyFile === undefined) return noIdentityTokens;
  const keys = readInternalKeys(db, keyFile);
  const client = internalClient({ from: workerOf(type), to: 'login', url, keys, tls });
  onStop(client.close);
  return identityTokens(client, type);
}

function importsOf(
  { type }: Driver,
  { SECRETS_KEY_FILE: keyFile, SECRETS_URL: url }: WorkerEnv,
  { db, tls, log, onStop }: Calls,
): ImportWriter {
  if (keyFile === undefined || !isImported(type)) return noImportWriter;
  if (!existsSync(keyFile)) {
    log.warn({ keyFile }, 'the key for secrets is missing, so nothing can be imported'); // of an older installation
    return noImportWriter;
  }
  const keys = readInternalKeys(db, keyFile);
  const client = internalClient({ from: workerOf(type), to: 'secrets', url, keys, tls });
  onStop(client.close);
  return importWriter(client, type);
}

const readiness = (db: Db, broker: Broker) => ({
  database: () => checkDatabase(db),
  broker: async () => {
    if (broker.state() !== 'connected') throw new Error('not connected to the broker');
  },
});
