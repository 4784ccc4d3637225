import { rowGuard } from '@secrets/access';
import type { CloudBContext } from '../../../src/auth-methods/cloudb/cloudb-context.ts';
import { decryptSecret } from '../../../src/auth-methods/cloudb/config/secret-fields.ts';
import { DirectoryKeys } from '../../../src/auth-methods/cloudb/directory/directory-keys.ts';
import { loginTargets } from '../../../src/auth-methods/cloudb/login/login-targets.ts';
import { LookupLimit } from '../../../src/auth-methods/cloudb/login/lookup-limit.ts';
import type { EnvironmentCredentials } from '../../../src/auth-methods/cloudb/provider/credentials/credential-source.ts';
import { MountClients, type MountIdentity } from '../../../src/auth-methods/cloudb/provider/mount-clients.ts';
import { createProviders } from '../../../src/auth-methods/cloudb/provider/providers.ts';
import { storingLoginTokens } from '../../../src/tokens/store-login-token.ts';
import { sandboxUrls } from '../../login-for-test.ts';
import { type ProviderForTest, startProviderForTest } from '../provider/provider-for-test.ts';
import { CrashingProcess } from './crashing-process.ts';

export const quickly = { pollMs: 1, attempts: 5 };

export interface RotationForTest extends ProviderForTest {
  mount: MountIdentity;
  /** What a replica of login uses. */
  contextOf(process?: CrashingProcess, environment?: EnvironmentCredentials): CloudBContext;
  /** Begins again with one stored secret, and two passwords of others. */
  beginAgain(): Promise<void>;
  /** The secret that is stored now. */
  storedSecret(): Promise<string>;
  /** The names of the application's passwords, without those of others; sorted. */
  ownPasswords(): string[];
  /** Lets all leases end, and everything that is to be looked at later be due. */
  letTimePass(): Promise<void>;
}

export async function startRotationForTest(): Promise<RotationForTest> {
  const cloud = await startProviderForTest();
  const { service, sandbox, mountId, accessor } = cloud;
  const { passwords } = sandbox.directory;
  return {
    ...cloud,
    mount: { mountId, namespacePath: '', accessor },
    contextOf: (process, environment) => contextOf(cloud, process, environment),
    beginAgain: async () => {
      sandbox.reset();
      await service.call('DELETE', '/auth/cloudB/config');
      await cloud.configure({ rotation_period: 0, rotation_schedule: '' });
      for (const name of ['foreign 1', 'foreign 2']) passwords.add({ displayName: name }, 0);
    },
    storedSecret: async () => {
      const [row] = await service.db.query<{ sealed: Uint8Array }>(
        'select sealed_client_secret as sealed from login.cloudb_configs where mount_id = $1',
        [mountId],
      );
      return decryptSecret(service.keyRing, mountId, 'client_secret', row!.sealed).reveal();
    },
    ownPasswords: () => {
      const names = passwords.list().map(({ displayName }) => String(displayName));
      const foreign = names.filter((name) => name.startsWith('foreign'));
      if (foreign.length !== 2) throw new Error('a password of others was removed');
      return names.filter((name) => !name.startsWith('foreign')).sort();
    },
    letTimePass: async () => {
      await service.db.query(
        `update login.cloudb_rotations set leased_until = null,
           due_at = case when due_at is null then null else now() - interval '1 second' end`,
      );
    },
  };
}

function contextOf(
  { service, sandbox }: ProviderForTest,
  process = new CrashingProcess(),
  environment: EnvironmentCredentials = {},
): CloudBContext {
  const { keyRing, keys, log } = service;
  const db = process.dbOf(service.db);
  const loginCounter = { inc: () => undefined };
  const storeLoginToken = storingLoginTokens(db);
  const deps = { keyRing, keys, rows: rowGuard(undefined), log, db, storeLoginToken, loginCounter };
  const clients = new MountClients({ ...deps, urls: sandboxUrls(sandbox), environment, debugLog: log });
  return {
    ...deps,
    clients,
    directory: new DirectoryKeys(sandbox.directoryUrl),
    targets: loginTargets(deps),
    guesses: new LookupLimit(),
    providers: createProviders(clients),
  };
}

/** Runs work as a process: its requests to the sandbox are effects of it. Returns what it threw. */
export async function runAs(
  process: CrashingProcess,
  sandboxUrl: string,
  work: () => Promise<unknown>,
): Promise<unknown> {
  const { fetch } = globalThis;
  globalThis.fetch = ((...request: Parameters<typeof fetch>) =>
    String(request[0]).startsWith(sandboxUrl)
      ? process.effect(() => fetch(...request))
      : fetch(...request)) as typeof fetch;
  try {
    await work();
    return undefined;
  } catch (error) {
    return error;
  } finally {
    globalThis.fetch = fetch;
  }
}
