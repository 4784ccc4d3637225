import { reportingRowGuard } from '@secrets/access';
import type { Repeated } from '@secrets/background';
import type { Broker } from '@secrets/broker';
import { type InternalKeys, verifyPermit } from '@secrets/caller';
import { checkDatabase, type Db } from '@secrets/db';
import { type Service, serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import { SealRotation, sealRotationEndpoints } from '@secrets/seal-rotation';
import type { Logger, Metrics } from '@secrets/telemetry';
import { Background } from './background.ts';
import { SecretEventFeed } from './changes/events/secret-event-feed.ts';
import { defaultConfig, type SecretsConfig } from './config.ts';
import type { Context } from './context.ts';
import { versionReader } from './kv/versions/version-reader.ts';
import { versionWriter } from './kv/versions/version-writer.ts';
import { MountCache } from './mounts/mount-cache.ts';
import { allEndpoints } from './routes/all.ts';
import { sealedTables } from './sealed-tables.ts';

export interface SecretsDeps {
  db: Db;
  /** For background work, which must not wait for the connections of requests; default `db`. */
  backgroundDb?: Db;
  broker: Broker;
  keyRing: KeyRing;
  keys: InternalKeys;
  /** Undefined if rows of the database are not protected. */
  rowKeys?: KeyRing | undefined;
  log: Logger;
  metrics: Metrics;
}

/** Creates the secrets service: mounts, KV version 2 below them, and the events of watched secrets. */
export function createSecrets(deps: SecretsDeps, config: SecretsConfig = defaultConfig): Service {
  const { db, backgroundDb = db, broker, keyRing, keys, log, metrics } = deps;
  const rows = reportingRowGuard(deps);
  const events = new SecretEventFeed({ db, backgroundDb, rows, log });
  const background = new Background(backgroundDb, log, metrics, events);
  const mounts = new MountCache(db);
  const context: Context = {
    db,
    keyRing,
    rows,
    log,
    mounts,
    versions: {
      find: versionReader(db),
      write: versionWriter(db),
      permittedBy: (permit, text) =>
        verifyPermit(keys, { from: 'sync-control', to: 'secrets' }, permit, text),
    },
    background,
  };
  const rotation = new SealRotation({
    db: backgroundDb,
    schema: 'secrets',
    tables: sealedTables,
    keyRing,
    log,
  });
  const app = serviceApp({
    service: 'secrets',
    endpoints: [...allEndpoints(context, events), ...sealRotationEndpoints(rotation)],
    keys,
    log,
    metrics,
    readiness: { database: () => checkDatabase(db) },
    databaseTime: db.now,
  });
  let rotating: Repeated | undefined;
  return {
    app,
    start: async () => {
      rotating = await rotation.start();
      background.start(broker, config);
    },
    stop: async () => {
      await rotating?.stop();
      await background.stop();
    },
  };
}
