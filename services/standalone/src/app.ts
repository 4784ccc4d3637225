import { openEmbeddedBroker } from '@secrets/broker';
import { type InternalKeys, readInternalKeys } from '@secrets/caller';
import { type Db, prepareSchema } from '@secrets/db';
import { createGateway } from '@secrets/gateway';
import { type RunningServer, type Service, startServer } from '@secrets/http';
import { createLogin, ensureRootToken } from '@secrets/login';
import type { Sandbox } from '@secrets/sandbox';
import { serviceSchemas } from '@secrets/schemas';
import { type KeyRing, readKeyRing } from '@secrets/seal';
import { createSecrets } from '@secrets/secrets';
import { stopInOrder } from '@secrets/service';
import { createSyncControl } from '@secrets/sync-control';
import { endAllLeases } from '@secrets/sync-entries';
import { createEgressGuard, createSyncWorker } from '@secrets/sync-worker';
import { cloudaSmDriver } from '@secrets/sync-worker-clouda-sm';
import { createMetrics, type Logger, openAudit } from '@secrets/telemetry';
import type { Env } from './config.ts';
import { createKeys, openDataFolder } from './data-folder.ts';
import { openDatabase } from './open-database.ts';
import { sandboxBeside } from './sandbox-beside.ts';

/** Everything in one process, running. */
export interface Standalone {
  /** Where the gateway listens. */
  url: string;
  rootTokenFile: string;
  sandbox: Sandbox | undefined;
  /** Takes no more requests, finishes what is under way, closes. */
  stop(): Promise<void>;
}

/** What every service is built from. */
interface Parts {
  db: Db;
  broker: Awaited<ReturnType<typeof openEmbeddedBroker>>;
  ring: KeyRing;
  keys: InternalKeys;
  log: Logger;
  env: Env;
}

/**
 * Starts every service in this process, on an embedded PostgreSQL and the in-process broker, each with the same `app.ts` as in
 * its own container. Durable: whatever was acknowledged is there after kill -9 and a new start.
 */
export async function startStandalone(env: Env, log: Logger): Promise<Standalone> {
  const folder = openDataFolder(env);
  const db = await openDatabase(env, folder.database, log);
  createKeys(folder, { dataExists: await hasData(db) });
  for (const schema of serviceSchemas) await prepareSchema(db, schema, log);
  await endAllLeases(db); // nobody else can hold one: the database is this process's alone
  const broker = await openEmbeddedBroker(db, { log: log.child({ service: 'broker' }) });
  const sandbox = await sandboxBeside(env, folder.sandbox);
  const parts: Parts = {
    db,
    broker,
    ring: readKeyRing(folder.sealKey),
    keys: readInternalKeys(folder.internalKey),
    log,
    env,
  };
  await ensureRootToken(db, { file: folder.rootToken });
  const inward = await startInward(parts, sandbox);
  const worker = await startWorker(parts, sandbox);
  const gateway = await startGateway(parts, inward.urls, folder.audit);
  const { stop } = stopInOrder(
    gateway.stop,
    worker.stop,
    inward.stop,
    () => broker.close(),
    () => sandbox?.stop(),
    db.close,
  );
  return { url: gateway.url, rootTokenFile: folder.rootToken, sandbox, stop };
}

async function hasData(db: Db): Promise<boolean> {
  const [row] = await db.query<{ exists: boolean }>(
    `select to_regclass('secrets.schema_version') is not null as exists`,
  );
  return row?.exists === true;
}

/** The services behind the gateway, each on a free port of the loopback interface. */
async function startInward(parts: Parts, sandbox: Sandbox | undefined) {
  const { db, broker, ring, keys, env } = parts;
  const login = await serve(
    createLogin(
      { db, keyRing: ring, keys, ...telemetry(parts, 'login') },
      { authorityUrl: env.CLOUDB_AUTHORITY_URL ?? sandbox?.directoryUrl },
    ),
  );
  const secrets = await serve(
    createSecrets({ db, broker, keyRing: ring, keys, ...telemetry(parts, 'secrets') }),
  );
  const syncControl = await serve(
    createSyncControl(
      { db, broker, keyRing: ring, keys, ...telemetry(parts, 'sync-control') },
      { prefix: env.SECRET_NAME_PREFIX, reconcileSeconds: env.RECONCILE_SECONDS, secretsUrl: secrets.url },
    ),
  );
  return {
    urls: { login: login.url, secrets: secrets.url, 'sync-control': syncControl.url },
    ...stopInOrder(syncControl.stop, secrets.stop, login.stop),
  };
}

async function serve(creating: Service | Promise<Service>) {
  const service = await creating;
  await service.start();
  const server: RunningServer = await startServer(service.app, { host: '127.0.0.1', port: 0 });
  return { url: server.url, ...stopInOrder(() => server.stop(5_000), service.stop) };
}

async function startWorker(parts: Parts, sandbox: Sandbox | undefined) {
  const { db, broker, ring, env } = parts;
  const worker = createSyncWorker(
    cloudaSmDriver({
      endpointUrl: env.CLOUDA_ENDPOINT_URL ?? sandbox?.cloudAUrl,
      defaultRegion: env.AWS_REGION,
    }),
    {
      db,
      broker,
      keyRing: ring,
      egress: createEgressGuard({ allow: env.EGRESS_ALLOW, mayOpen: env.EGRESS_MAY_OPEN }),
      ...telemetry(parts, 'sync-worker-clouda-sm'),
    },
    { concurrency: env.CONCURRENCY, leaseSeconds: env.LEASE_SECONDS, prefix: env.SECRET_NAME_PREFIX },
  );
  await worker.start();
  return worker;
}

async function startGateway(
  parts: Parts,
  upstreams: { login: string; secrets: string; 'sync-control': string },
  auditFile: string,
) {
  const { db, keys, env } = parts;
  const audit = openAudit(auditFile);
  const gateway = await createGateway(
    { db, keys, audit, ...telemetry(parts, 'gateway') },
    { upstreams, trustedProxies: env.TRUSTED_PROXIES },
  );
  await gateway.start();
  const tls =
    env.TLS_CERT_FILE !== undefined && env.TLS_KEY_FILE !== undefined
      ? { tls: { certFile: env.TLS_CERT_FILE, keyFile: env.TLS_KEY_FILE } }
      : {};
  const server = await startServer(gateway.app, { host: env.HOST, port: env.PORT, listVerb: true, ...tls });
  return { url: server.url, ...stopInOrder(() => server.stop(10_000), gateway.stop) };
}

const telemetry = ({ log }: Parts, service: string) => ({
  log: log.child({ service }),
  metrics: createMetrics(service, { processMetrics: false }),
});
