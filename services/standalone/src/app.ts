import type { RequestListener } from 'node:http';
import { type Broker, openMemoryBroker } from '@secrets/broker';
import { type InternalKeys, readInternalKeys } from '@secrets/caller';
import { type Db, prepareSchema } from '@secrets/db';
import { workerOf } from '@secrets/domain';
import { createGateway, observeCertificate, tlsFiles } from '@secrets/gateway';
import { internalClient, internalHeaderBytes, type Service, startServer } from '@secrets/http';
import { openKeys } from '@secrets/key-service';
import { createLogin, ensureRootToken, loginMethodConfig, writeFirstPolicies } from '@secrets/login';
import type { Sandbox } from '@secrets/sandbox';
import { serviceSchemas } from '@secrets/schemas';
import type { KeyFile } from '@secrets/seal';
import { createSecrets } from '@secrets/secrets';
import { type Process, reloadFiles, serve, stopInOrder } from '@secrets/service';
import { createSyncControl, restartBackgroundWork } from '@secrets/sync-control';
import { endAllLeases, reviveAll } from '@secrets/sync-entries';
import {
  createEgressGuard,
  createSyncWorker,
  type Driver,
  identityTokens,
  importWriter,
  workerConfig,
} from '@secrets/sync-worker';
import {
  createMetrics,
  joinMetrics,
  type Logger,
  loggerOf,
  type Metrics,
  openAudit,
} from '@secrets/telemetry';
import type { Env } from './config.ts';
import { createKeys, type DataFolder, type ExistingData, openDataFolder, placeOf } from './data-folder.ts';
import { onDefaultPort } from './default-port.ts';
import { driversOf } from './drivers.ts';
import { warnOfExposure } from './exposure.ts';
import { startLocalSandbox } from './local-sandbox.ts';
import { type Databases, openDatabases } from './open-databases.ts';
import { readyPolicies } from './ready-policies.ts';
import { prepareSignIn } from './sandbox-sign-in.ts';

/** Every service in one process, running. */
export interface Standalone {
  /** URL of the gateway. */
  url: string;
  /** URL of the console; undefined if it is switched off or not built. */
  consoleUrl: string | undefined;
  /** URL of `/livez`, `/readyz` and `/metrics`. */
  internalUrl: string;
  rootTokenFile: string;
  sandbox: Sandbox | undefined;
  /** Opens the audit files again, after they were renamed. */
  reopenAudit(): Promise<void>;
  /** Accepts no new requests, completes those in flight and closes everything. */
  stop(): Promise<void>;
}

type OnStop = Process<Env>['onStop'];

interface Parts extends Databases {
  broker: Broker;
  keyRing: KeyFile;
  keys: InternalKeys;
  rowKeys: KeyFile;
  log: Logger;
  /** Those of the process and of each service that has started. */
  metrics: Metrics[];
  env: Env;
  /** Where the files of an embedded database are, if nothing else identifies the installation. */
  place: string | undefined;
  onStop: OnStop;
}

/**
 * Starts every service in this process, each with the same `app.ts` as in its own container, on PostgreSQL and the
 * broker in memory. Durable: acknowledged writes survive kill -9, and what was queued is announced again.
 * @param metrics those of the process, which are served with those of the services
 * @throws if the start fails, after closing what was opened
 */
export async function startStandalone(env: Env, log: Logger, metrics: Metrics): Promise<Standalone> {
  const closers: Parameters<OnStop>[0][] = [];
  const stop = () => stopInOrder(...closers).stop();
  try {
    const onStop = (close: Parameters<OnStop>[0]) => void closers.unshift(close);
    return { ...(await start({ env, log, metrics, onStop })), stop };
  } catch (error) {
    await stop().catch(() => undefined); // the cause is `error`
    throw error;
  }
}

async function start(started: Process<Env>): Promise<Omit<Standalone, 'stop'>> {
  const { env, log, metrics, onStop } = started;
  warnOfExposure(env, log);
  const folder = openDataFolder(env);
  const databases = await openDatabases(env, folder.database, log);
  onStop(databases.close);
  const { db } = databases;
  await prepareData(db, folder, log);
  const sandbox = await startLocalSandbox(env, folder.sandbox);
  onStop(() => sandbox?.stop());
  const broker = openMemoryBroker({ log: loggerOf(log, 'broker') });
  onStop(() => broker.close());
  const keyRing = await openKeys(started, 'the seal keys', { file: folder.sealKey, onSignal });
  const keys = readInternalKeys(db, folder.internalKey);
  const rowKeys = await openKeys(started, 'the row keys', { file: folder.rowKey, onSignal });
  const isNamed = env.INSTALLATION !== undefined || env.DATABASE_URL !== undefined;
  const place = isNamed ? undefined : placeOf(folder);
  const parts: Parts = {
    ...databases,
    broker,
    keyRing,
    keys,
    rowKeys,
    log,
    metrics: [metrics],
    env,
    place,
    onStop,
  };
  if (sandbox !== undefined) await writeFirstPolicies(db, readyPolicies(), rowKeys);
  const { created: isFirstStart } = await ensureRootToken(db, { file: folder.rootToken, rowKeys });
  const services = await startServices(parts, sandbox);
  for (const driver of driversOf(env, sandbox)) await startWorker(parts, driver, services.urls);
  const gateway = await startGateway(parts, services, folder.audit);
  const standalone = { ...gateway, rootTokenFile: folder.rootToken, sandbox };
  if (sandbox !== undefined) await prepareSignIn(sandbox, { ...standalone, isFirstStart }, log);
  return standalone;
}

async function prepareData(db: Db, folder: DataFolder, log: Logger): Promise<void> {
  createKeys(folder, await existingData(db));
  for (const schema of serviceSchemas) await prepareSchema(db, schema, log);
  // Leases are leftovers, and the messages of admissions and changes are lost: only this process uses the database.
  await endAllLeases(db);
  await reviveAll(db);
  await restartBackgroundWork(db);
}

async function existingData(db: Db): Promise<ExistingData> {
  const [row] = await db.query<ExistingData>(
    `select to_regclass('secrets.schema_version') is not null as "dataExists",
       exists (select 1 from pg_attribute where attrelid = to_regclass('login.tokens') and attname = 'row_hash') as "hasRowHashes"`,
  );
  return row ?? { dataExists: false, hasRowHashes: false };
}

/**
 * Starts the services behind the gateway, each on a free port of the loopback interface, where they call each other.
 * The gateway calls them directly.
 */
async function startServices(parts: Parts, sandbox: Sandbox | undefined) {
  const { db, backgroundDb, broker, keyRing, keys, rowKeys, env } = parts;
  const login = await createLogin(
    { db, keyRing, keys, rowKeys, ...telemetry(parts, 'login') },
    {
      ...sandboxProvider(sandbox),
      ...defined(loginMethodConfig(env)),
      egressAllow: loginEgress(env, sandbox),
    },
  );
  const { url: loginUrl } = await serveLocally(parts, login, 'login');
  const secrets = createSecrets({
    db,
    backgroundDb,
    broker,
    keyRing,
    keys,
    rowKeys,
    ...telemetry(parts, 'secrets'),
  });
  const { url: secretsUrl } = await serveLocally(parts, secrets, 'secrets');
  const syncControl = createSyncControl(
    { db, backgroundDb, broker, keyRing, keys, rowKeys, ...telemetry(parts, 'sync-control') },
    { settings: env, secretsUrl, place: parts.place },
  );
  const { url: syncControlUrl } = await serveLocally(parts, syncControl, 'sync-control');
  return {
    urls: { login: loginUrl, secrets: secretsUrl, 'sync-control': syncControlUrl },
    direct: {
      login: login.app.serve,
      secrets: secrets.app.serve,
      'sync-control': syncControl.app.serve,
    },
  };
}

/** The simulated provider of the login method cloudB. */
const sandboxProvider = (sandbox: Sandbox | undefined) =>
  sandbox === undefined
    ? {}
    : {
        authorityUrl: sandbox.directoryUrl,
        resourceManagerUrl: sandbox.resourceManagerUrl,
        graphUrl: `${sandbox.url}/graph`,
        metadataUrl: sandbox.url,
      };

/** The addresses that an operator permits, and that of the sandbox, whose provider people may sign in at. */
function loginEgress(env: Env, sandbox: Sandbox | undefined): string[] {
  const permitted = loginMethodConfig(env).egressAllow ?? [];
  return sandbox === undefined ? [...permitted] : [...permitted, `127.0.0.1/32:${new URL(sandbox.url).port}`];
}

const defined = <Fields extends object>(fields: Fields): Partial<Fields> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;

const serveLocally = ({ log, onStop }: Parts, service: Service<RequestListener>, name: string) =>
  serve(
    service,
    { host: '127.0.0.1', port: 0, maxHeaderBytes: internalHeaderBytes },
    { log: loggerOf(log, name), onStop },
  );

async function startWorker(
  parts: Parts,
  driver: Driver,
  { login: loginUrl, secrets: secretsUrl }: { login: string; secrets: string },
): Promise<void> {
  const { workerDb, unblockedDb, broker, keyRing, keys, env } = parts;
  const clientTo = (to: string, url: string) => {
    const client = internalClient({ from: workerOf(driver.type), to, url, keys });
    parts.onStop(client.close);
    return client;
  };
  const egress = createEgressGuard({ allow: env.EGRESS_ALLOW, mayOpen: env.EGRESS_MAY_OPEN });
  const { log, metrics } = telemetry(parts, `sync-worker-${driver.type.toLowerCase()}`);
  const worker = createSyncWorker(
    driver,
    {
      db: workerDb,
      unblockedDb,
      broker,
      keyRing,
      egress,
      identityTokens: identityTokens(clientTo('login', loginUrl), driver.type),
      imports: importWriter(clientTo('secrets', secretsUrl), driver.type),
      log,
      metrics,
    },
    workerConfig(env),
  );
  await worker.start();
  parts.onStop(worker.stop);
}

async function startGateway(
  parts: Parts,
  { urls, direct }: Awaited<ReturnType<typeof startServices>>,
  auditDevices: readonly string[],
) {
  const { db, keys, rowKeys, env, onStop } = parts;
  const { log, metrics } = telemetry(parts, 'gateway');
  const audit = await openAudit(auditDevices);
  onStop(audit.close);
  const gateway = createGateway(
    { db, keys, rowKeys, audit, log, metrics: joinMetrics(metrics, parts.metrics) },
    {
      upstreams: urls,
      direct,
      allowedHosts: checkedHosts(env),
      settings: env,
    },
  );
  const startInternal = (port: number) => startServer(gateway.internal, { host: env.INTERNAL_HOST, port });
  const internal = await onDefaultPort(8201, env.INTERNAL_PORT, startInternal);
  onStop(() => internal.stop(1_000));
  const { HOST: host, PORT: port, MAX_CONNECTIONS: maxConnections } = env;
  const { onUnparsed } = gateway;
  const options = { host, port, listVerb: true, maxConnections, onUnparsed, ...tlsFiles(env) };
  const { url, reloadTls } = await serve(gateway, options, { log, onStop });
  if (options.tls !== undefined) {
    const observe = await observeCertificate(metrics, options.tls.certFile);
    const reload = () => reloadTls().then(observe);
    reloadFiles(parts, { what: 'the TLS files', files: Object.values(options.tls), reload, onSignal });
  }
  const { consolePath } = gateway;
  return {
    url,
    consoleUrl: consolePath === undefined ? undefined : `${url}${consolePath}`,
    internalUrl: internal.url,
    reopenAudit: () => audit.reopen(),
  };
}

/** Closing the terminal sends SIGHUP too; it still ends a process that was started there. */
const onSignal = !process.stdin.isTTY;

/** Over TLS, no other name has a certificate that a browser accepts for it: there, names are only checked if some are given. */
const checkedHosts = (env: Env): readonly string[] | undefined =>
  tlsFiles(env).tls !== undefined && env.ALLOWED_HOSTS.length === 0 ? undefined : env.ALLOWED_HOSTS;

function telemetry({ log, metrics: all }: Parts, service: string) {
  const metrics = createMetrics(service, { processMetrics: false });
  all.push(metrics);
  return { log: loggerOf(log, service), metrics };
}
