import type { Broker } from '@secrets/broker';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { type Service, serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Logger, Metrics } from '@secrets/telemetry';
import { Background } from './background.ts';
import { defaultConfig, type SecretsConfig } from './config.ts';
import type { Context } from './context.ts';
import { KnownMounts } from './known-mounts.ts';
import { kvEndpoints } from './kv-endpoints.ts';
import { internalEndpoints, kvOperations, mountEndpoints } from './routes/all.ts';

export interface SecretsDeps {
  db: Db;
  broker: Broker;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
}

/** Builds the secrets service: mounts, KV version 2 below them, and the events of watched secrets. */
export function createSecrets(deps: SecretsDeps, config: SecretsConfig = defaultConfig): Service {
  const { db, broker, keyRing, keys, log, metrics } = deps;
  const background = new Background(db, log);
  const { notifyChanged, notifyMountDisabled } = background;
  const context: Context = {
    db,
    keyRing,
    log,
    mounts: new KnownMounts(db),
    notifyChanged,
    notifyMountDisabled,
  };
  const app = serviceApp({
    service: 'secrets',
    endpoints: [
      ...mountEndpoints(context),
      ...internalEndpoints(context),
      ...kvEndpoints(context.mounts, kvOperations(context)),
    ],
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
