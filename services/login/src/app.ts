import { every, type Repeated } from '@secrets/background';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { type Service, serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Logger, Metrics } from '@secrets/telemetry';
import { createAuthMethods } from './auth-methods/registry.ts';
import { mountTypes } from './auth-mounts/mount-types.ts';
import type { LoginConfig } from './config.ts';
import type { Context } from './context.ts';
import { allEndpoints } from './routes/all.ts';
import { sweepTokens } from './tokens/sweep-tokens.ts';

export { ensureRootToken } from './tokens/root-token.ts';

export interface LoginDeps {
  db: Db;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
}

/** Creates the login service: tokens, policies, namespaces, auth mounts and login methods. Its schema must exist. */
export function createLogin(deps: LoginDeps, config: LoginConfig = {}): Service {
  const { db, keys, log, metrics } = deps;
  const context: Context = {
    db,
    keys,
    methods: createAuthMethods(deps, config),
    mountTypes: mountTypes(db),
    loginCounter: metrics.counter('logins_total', 'Logins by outcome', ['outcome']),
  };
  const readiness = { database: () => requireSchema(db) };
  let sweep: Repeated | undefined;
  return {
    app: serviceApp({ service: 'login', endpoints: allEndpoints(context), keys, log, metrics, readiness }),
    start: async () => {
      sweep = every(config.sweepSeconds ?? 15, 'token sweep', log, (isStopping) =>
        sweepTokens(db, isStopping),
      );
    },
    stop: async () => sweep?.stop(),
  };
}

async function requireSchema(db: Db): Promise<void> {
  await db.query('select 1 from login.access_epoch');
}
