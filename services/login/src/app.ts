import { every, type Repeated } from '@secrets/background';
import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import type { Logger, Metrics } from '@secrets/telemetry';
import { DirectoryKeys } from './cloudb/directory-keys.ts';
import { loginTargets } from './cloudb/login-targets.ts';
import type { ProviderLookup } from './cloudb/provider-lookup.ts';
import type { LoginConfig } from './config.ts';
import type { Context } from './context.ts';
import { authMountEndpoints } from './routes/auth-mounts.ts';
import { capabilityEndpoints } from './routes/capabilities.ts';
import { configEndpoints } from './routes/cloudb-config.ts';
import { type LoginOutcomes, loginEndpoint } from './routes/cloudb-login.ts';
import { roleEndpoints } from './routes/cloudb-roles.ts';
import { namespaceEndpoints } from './routes/namespaces.ts';
import { policyEndpoints } from './routes/policies.ts';
import { tokenEndpoints } from './routes/tokens.ts';
import { sweepTokens } from './tokens/sweep-tokens.ts';

export { Env, type LoginConfig } from './config.ts';
export { ensureRootToken } from './root-token.ts';

export interface LoginDeps {
  db: Db;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  metrics: Metrics;
  /** Asks the provider about machines, for roles that bind more than principals. */
  provider?: ProviderLookup;
}

export interface LoginService {
  app: ReturnType<typeof serviceApp>;
  /** Starts what runs in the background. */
  start(): Promise<void>;
  /** Ends it, waiting for what is under way. */
  stop(): Promise<void>;
}

/** Builds the login service: tokens, policies, namespaces, auth mounts and the cloudB login method. The schema must be there. */
export async function createLogin(deps: LoginDeps, config: LoginConfig = {}): Promise<LoginService> {
  const { db, keyRing, keys, log, metrics, provider } = deps;
  const directory = new DirectoryKeys(config.authorityUrl);
  const context: Context = { db, keyRing, keys, log, directory, targets: loginTargets(db), provider };
  const outcomes = metrics.counter('logins_total', 'Logins by outcome', ['outcome']);
  let sweep: Repeated | undefined;
  return {
    app: serviceApp({
      service: 'login',
      endpoints: endpointsOf(context, outcomes),
      keys,
      log,
      metrics,
      readiness: readiness(db),
    }),
    start: async () => {
      sweep = every(config.sweepSeconds ?? 15, 'token sweep', log, (isStopping) =>
        sweepTokens(db, isStopping),
      );
    },
    stop: async () => sweep?.stop(),
  };
}

const endpointsOf = (context: Context, outcomes: LoginOutcomes) => [
  ...tokenEndpoints(context),
  ...policyEndpoints(context),
  ...capabilityEndpoints(context),
  ...namespaceEndpoints(context),
  ...authMountEndpoints(context),
  ...roleEndpoints(context), // before the others below a mount: a role may be called `config` or `login`
  ...configEndpoints(context),
  loginEndpoint(context, outcomes),
];

const readiness = (db: Db) => ({
  database: async () => {
    await db.query('select 1 from login.access_epoch');
  },
});
