import { reportingRowGuard } from '@secrets/access';
import { every, type Repeated } from '@secrets/background';
import type { InternalKeys } from '@secrets/caller';
import { watchClock } from '@secrets/clock';
import { checkDatabase, type Db } from '@secrets/db';
import { type Service, serviceApp } from '@secrets/http';
import type { KeyRing } from '@secrets/seal';
import { SealRotation, sealRotationEndpoints } from '@secrets/seal-rotation';
import type { Logger, Metrics } from '@secrets/telemetry';
import type { MethodTask } from './auth-methods/auth-method.ts';
import { createAuthMethods } from './auth-methods/registry.ts';
import type { LoginConfig } from './config.ts';
import type { Context } from './context.ts';
import { deadlines } from './deadlines.ts';
import { logAliasesInOtherCase } from './identities/named.ts';
import { rotateDueKeys } from './issuer/rotate-keys.ts';
import { allEndpoints } from './routes/all.ts';
import { rebindRows } from './rows/rebind-rows.ts';
import { sealedTables } from './sealed-tables.ts';
import { storingLoginTokens } from './tokens/store-login-token.ts';
import { sweepTokens } from './tokens/sweep-tokens.ts';
import { sweepWrappedResponses } from './wrapping/sweep-wrapped.ts';

export { loginMethodConfig, loginMethodEnv } from './config.ts';
export { writeFirstPolicies } from './policies/save-policy.ts';
export { ensureRootToken } from './tokens/root/root-token.ts';

export interface LoginDeps {
  db: Db;
  keyRing: KeyRing;
  keys: InternalKeys;
  /** Undefined if rows of the database are not protected. */
  rowKeys?: KeyRing | undefined;
  log: Logger;
  metrics: Metrics;
}

const rotationPollSeconds = 60;

/**
 * Creates the login service: tokens, policies, namespaces, auth mounts, login methods and the issuer of identity
 * tokens. Its schema must exist.
 */
export function createLogin(deps: LoginDeps, config: LoginConfig = {}): Service {
  const { db, keyRing, keys, log, metrics } = deps;
  const storeLoginToken = storingLoginTokens(db);
  const rows = reportingRowGuard(deps);
  const loginCounter = metrics.counter('logins_total', 'Logins by outcome', ['outcome']);
  const context: Context = {
    db,
    keyRing,
    keys,
    rows,
    log,
    methods: createAuthMethods({ ...deps, rows, storeLoginToken, loginCounter }, config),
    storeLoginToken,
  };
  const rotation = new SealRotation({ db, schema: 'login', tables: sealedTables, keyRing, log });
  const readiness = { database: () => requireSchema(db) };
  let repeated: Repeated[] = [];
  return {
    app: serviceApp({
      service: 'login',
      endpoints: [...allEndpoints(context, loginCounter), ...sealRotationEndpoints(rotation)],
      keys,
      log,
      metrics,
      readiness,
      databaseTime: db.now,
    }),
    start: async () => {
      await logAliasesInOtherCase(db, log);
      repeated = [
        await rotation.start(),
        every(config.sweepSeconds ?? 15, 'token sweep', log, (isStopping) =>
          sweepTokens({ db, log, isStopping }),
        ),
        every(config.sweepSeconds ?? 15, 'sweep of wrapped responses', log, (isStopping) =>
          sweepWrappedResponses(db, isStopping),
        ),
        every(rotationPollSeconds, 'identity key rotation', log, () => rotateDueKeys(context)),
        watchClock({ db, schema: 'login', deadlines, log, metrics }),
        ...tasksOf(context, deps).map(({ seconds, name, run }) => every(seconds, name, log, run)),
      ];
    },
    stop: async () => void (await Promise.all(repeated.map(({ stop }) => stop()))),
  };
}

const tasksOf = ({ db, rows, methods }: Context, { rowKeys }: LoginDeps): MethodTask[] => [
  {
    name: 'rotation of the row key',
    seconds: rotationPollSeconds,
    run: (isStopping) => rebindRows({ db, rows, rowKeys, isStopping }),
  },
  ...methods.all.flatMap(({ tasks = [] }) => tasks),
];

async function requireSchema(db: Db): Promise<void> {
  await checkDatabase(db);
  await db.query('select 1 from login.access_epoch');
}
