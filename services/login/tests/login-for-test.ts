import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthenticator, type Epoch, rowGuard } from '@secrets/access';
import type { Caller, InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { TestDb } from '@secrets/db/testing';
import { serveForTest, type TestResponse, testCaller, testKeys } from '@secrets/http/testing';
import { type Sandbox, startSandbox, type TokenOptions } from '@secrets/sandbox';
import { openTestDb } from '@secrets/schemas/testing';
import { type KeyRing, parseKeyRing } from '@secrets/seal';
import { createLogger, createMetrics, type Logger } from '@secrets/telemetry';
import { readChanges } from '../../../libs/access/src/changes/read-changes.ts';
import { later, useStarted } from '../../../libs/testing/src/use-started.ts';
import { createLogin, ensureRootToken } from '../src/app.ts';
import type { LoginConfig } from '../src/config.ts';

export interface LoginForTest {
  url: string;
  db: TestDb;
  keys: InternalKeys;
  keyRing: KeyRing;
  /** A bound key, as in a new installation, unless `rowsAreBound` is false. */
  rowKeys: KeyRing;
  log: Logger;
  /** Everything that was logged, at level trace. */
  logged(): string;
  /** The caller of the root token. */
  root: Caller;
  /** Sends a request as the gateway would: with the root token, unless a caller is given. */
  call(method: string, path: string, body?: unknown, caller?: Caller): Promise<TestResponse>;
  /** Sends a request on a path that receives the token of the caller, with this token. */
  callWithToken(
    token: string,
    method: string,
    path: string,
    body?: unknown,
    caller?: Caller,
  ): Promise<TestResponse>;
  /** The caller of a token that was just issued. */
  callerOf(response: TestResponse, over?: Partial<Caller>): Caller;
  /** Whether the gateway accepts a token, in a namespace. */
  isAccepted(token: string, namespace?: string): Promise<boolean>;
  /** Whether the gateway lets a token read a path. */
  isAllowed(token: string, path: string): Promise<boolean>;
  /** The number of the newest change of access. */
  epoch(): Promise<number>;
  /** Identifies that change, as the gateway does. */
  newestChange(): Promise<Epoch>;
  /** Reads a path outside of the API, such as `/readyz`. */
  plain(path: string): Promise<{ paths: Record<string, unknown> }>;
  stop(): Promise<void>;
}

/** The service on a database of its own, with a root token. */
export async function startLoginForTest(
  config: LoginConfig = {},
  { rowsAreBound = true } = {},
): Promise<LoginForTest> {
  const db = await openTestDb();
  const rowKeys = parseKeyRing(
    `r1:${randomBytes(32).toString('base64')}${rowsAreBound ? ' bound' : ''}`,
    'test',
  );
  const root = await createRootToken(db, rowKeys);
  const { log, logged } = recordingLogger();
  const keys = testKeys();
  const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
  const metrics = createMetrics('login', { processMetrics: false });
  const service = createLogin({ db, keyRing, keys, rowKeys, log, metrics }, config);
  const served = await serveForTest(service.app, 'login', keys);
  return {
    url: served.url,
    db,
    keys,
    keyRing,
    rowKeys,
    log,
    root,
    logged,
    call: (method, path, body, caller = root) => served.call(method, path, body, caller),
    callWithToken: (token, method, path, body, caller = root) =>
      served.call(method, path, body, caller, 'gateway', token),
    callerOf,
    ...gatewayOf(db, keys, rowKeys),
    epoch: async () => (await db.query<{ value: number }>('select value from login.access_epoch'))[0]!.value,
    newestChange: async () => (await readChanges(db, '')).epoch,
    plain: async (path) =>
      (await fetch(`${served.url}${path}`)).json() as Promise<{ paths: Record<string, unknown> }>,
    stop: async () => {
      await service.stop();
      await served.stop();
      await db.close();
    },
  };
}

/**
 * Starts the service for the tests of a file, and stops it after them. A test that inserts tokens itself needs
 * `rowsAreBound: false`.
 */
export const useLogin = (options?: { rowsAreBound: boolean }): LoginForTest =>
  useStarted(
    () => startLoginForTest({}, options),
    ({ stop }) => stop(),
  );

/** Returns a function that creates a token, with the root token unless a caller is given, and expects that it succeeds. */
export const createIn =
  (login: LoginForTest) =>
  async (body: object = {}, caller = login.root): Promise<TestResponse> => {
    const created = await login.call('POST', '/auth/token/create', body, caller);
    if (created.status !== 200) throw new Error(`no token was created: ${JSON.stringify(created.body)}`);
    return created;
  };

/** The caller of a request without a token. */
export const anonymous = testCaller({ accessor: null, tokenType: null, policies: [], grants: [] });

export const audience = 'https://management.example/';
export const oid = '11111111-aaaa-4bbb-8ccc-222222222222';
export const group = '33333333-aaaa-4bbb-8ccc-444444444444';

/** The service with a directory, an auth mount `cloudB` that is configured for it, and a role `web` that admits `oid`. */
export interface CloudBForTest {
  sandbox: Sandbox;
  service: LoginForTest;
  /** Writes the configuration, which also drops the cached keys. */
  configure(over?: object): Promise<TestResponse>;
  writeRole(name: string, body: object): Promise<TestResponse>;
  /** A JWT for `oid`, unless the options say otherwise. */
  issueJwt(options?: Partial<TokenOptions>): Promise<string>;
  /** Every JWT that was issued. */
  issuedJwts: readonly string[];
  logIn(body: object, caller?: Caller): Promise<TestResponse>;
  /** Logs in with a new JWT, by default through the role `web`. */
  logInWith(options: Partial<TokenOptions>, role?: string): Promise<TestResponse>;
  stop(): Promise<void>;
}

/** The settings that lead every mount to the sandbox. */
export const sandboxUrls = (sandbox: Sandbox): LoginConfig => ({
  authorityUrl: `${sandbox.directoryUrl}/`,
  resourceManagerUrl: sandbox.resourceManagerUrl,
  graphUrl: `${sandbox.url}/graph`,
  metadataUrl: sandbox.url,
});

/** Starts the service with its directory for the tests of a file, and stops them after those. */
export function useCloudB(options?: { rowsAreBound: boolean }): {
  cloudB: CloudBForTest;
  login: LoginForTest;
} {
  const cloudB = useStarted(
    () => startCloudBForTest(options),
    ({ stop }) => stop(),
  );
  return { cloudB, login: later(() => cloudB.service) };
}

export async function startCloudBForTest(options?: { rowsAreBound: boolean }): Promise<CloudBForTest> {
  const sandbox = await startSandbox();
  const service = await startLoginForTest(sandboxUrls(sandbox), options);
  const issuedJwts: string[] = [];
  const cloudB: CloudBForTest = {
    sandbox,
    service,
    issuedJwts,
    configure: (over = {}) =>
      service.call('POST', '/auth/cloudB/config', {
        tenant_id: sandbox.tenantId,
        resource: audience,
        ...over,
      }),
    writeRole: (name, body) => service.call('POST', `/auth/cloudB/role/${name}`, body),
    issueJwt: async (options = {}) => {
      const jwt = await sandbox.directory.issueToken({ oid, audience, ...options });
      issuedJwts.push(jwt);
      return jwt;
    },
    logIn: (body, caller = anonymous) => service.call('POST', '/auth/cloudB/login', body, caller),
    logInWith: async (options, role = 'web') => cloudB.logIn({ role, jwt: await cloudB.issueJwt(options) }),
    stop: async () => {
      await service.stop();
      await sandbox.stop();
    },
  };
  await service.call('POST', '/sys/auth/cloudB', { type: 'cloudB' });
  await cloudB.configure();
  await cloudB.writeRole('web', { bound_service_principal_ids: [oid], policies: 'dev', token_ttl: '1h' });
  return cloudB;
}

async function createRootToken(db: Db, rowKeys: KeyRing): Promise<Caller> {
  const folder = mkdtempSync(join(tmpdir(), 'login-for-test-'));
  await ensureRootToken(db, { file: join(folder, 'root-token'), rowKeys });
  rmSync(folder, { recursive: true });
  const [row] = await db.query<{ accessor: string }>(
    "select accessor from login.tokens where policies = '{root}'",
  );
  return testCaller({ accessor: row!.accessor });
}

function recordingLogger() {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLogger({ service: 'login', level: 'trace', destination });
  return { log, logged: () => lines.join('') };
}

const callerOf: LoginForTest['callerOf'] = ({ body: { auth } }, over = {}) =>
  testCaller({
    accessor: auth.accessor,
    policies: auth.policies,
    grants: ['create', 'read', 'update'],
    ...over,
  });

function gatewayOf(
  db: Db,
  keys: InternalKeys,
  rowKeys: KeyRing,
): Pick<LoginForTest, 'isAccepted' | 'isAllowed'> {
  const authenticator = createAuthenticator({ db, keys, rows: rowGuard(rowKeys) });
  const isAllowed = async (token: string, path: string, namespace?: string) =>
    (
      await authenticator.authenticate({
        token,
        namespace,
        operation: 'read',
        path,
        remoteAddress: '127.0.0.1',
        requestId: 'r',
      })
    ).allowed;
  return {
    isAccepted: (token, namespace) => isAllowed(token, 'auth/token/lookup-self', namespace),
    isAllowed,
  };
}
