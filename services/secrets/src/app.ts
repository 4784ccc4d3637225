import type { Broker } from '@secrets/broker';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { type Service, serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Logger, Metrics } from '@secrets/telemetry';
import { Background } from './background.ts';
import { defaultConfig, type SecretsConfig } from './config.ts';
import type { Context } from './context.ts';
import { MountCache } from './mounts/mount-cache.ts';
import { allEndpoints } from './routes/all.ts';

export interface SecretsDeps {
  db: Db;
  /** For background work, which must not wait for the connections of requests; default `db`. */
  backgroundDb?: Db;
  broker: Broker;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
}

/** Creates the secrets service: mounts, KV version 2 below them, and the events of watched secrets. */
export function createSecrets(deps: SecretsDeps, config: SecretsConfig = defaultConfig): Service {
  const { db, backgroundDb = db, broker, keyRing, keys, log, metrics } = deps;
  const background = new Background(backgroundDb, log);
  const { notifyChanged, notifyMountDisabled } = background;
  const mounts = new MountCache(db);
  const context: Context = { db, keyRing, log, mounts, notifyChanged, notifyMountDisabled };
  const app = serviceApp({
    service: 'secrets',
    endpoints: allEndpoints(context),
    keys,
    log,
    metrics,
    readiness: { database: async () => void (await db.query('select 1')) },
  });
  return {
    app,
    start: async () => background.start(broker, config),
    stop: () => background.stop(),
  };
}
