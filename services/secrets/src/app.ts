import type { Broker } from '@secrets/broker';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { type Endpoint, type Service, serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Logger, Metrics } from '@secrets/telemetry';
import { Background } from './background.ts';
import { defaultConfig, type SecretsConfig } from './config.ts';
import type { Context } from './context.ts';
import { MountCache } from './mounts/mount-cache.ts';
import { configEndpoints } from './routes/config.ts';
import { dataEndpoints } from './routes/data.ts';
import { internalEndpoints } from './routes/internal.ts';
import { kvRouter } from './routes/kv-router.ts';
import { metadataEndpoints } from './routes/metadata.ts';
import { mountEndpoints } from './routes/mounts.ts';
import { subkeysEndpoints } from './routes/subkeys.ts';
import { versionsEndpoints } from './routes/versions.ts';

interface SecretsDeps {
  db: Db;
  /** For background work, which must not wait for the connections of requests; default `db`. */
  backgroundDb?: Db;
  broker: Broker;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
}

/** Builds the secrets service: mounts, KV version 2 below them, and the events of watched secrets. */
export function createSecrets(deps: SecretsDeps, config: SecretsConfig = defaultConfig): Service {
  const { db, backgroundDb = db, broker, keyRing, keys, log, metrics } = deps;
  const background = new Background(backgroundDb, log);
  const { notifyChanged, notifyMountDisabled } = background;
  const mounts = new MountCache(db);
  const app = serviceApp({
    service: 'secrets',
    endpoints: endpointsOf({ db, keyRing, log, mounts, notifyChanged, notifyMountDisabled }),
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

const endpointsOf = (context: Context): Endpoint[] => [
  ...mountEndpoints(context),
  ...internalEndpoints(context),
  ...kvRouter(context.mounts, [
    ...configEndpoints(context),
    ...dataEndpoints(context),
    ...versionsEndpoints(context),
    ...metadataEndpoints(context),
    ...subkeysEndpoints(context),
  ]),
];
