import { rowGuard } from '@secrets/access';
import { type Sandbox, startSandbox } from '@secrets/sandbox';
import type { ConfigSettings } from '../../../src/auth-methods/cloudb/config/config-settings.ts';
import type { EnvironmentCredentials } from '../../../src/auth-methods/cloudb/provider/credentials/credential-source.ts';
import { MountClients } from '../../../src/auth-methods/cloudb/provider/mount-clients.ts';
import type { Provider, Providers } from '../../../src/auth-methods/cloudb/provider/provider.ts';
import { createProviders } from '../../../src/auth-methods/cloudb/provider/providers.ts';
import { audience, type LoginForTest, sandboxUrls, startLoginForTest } from '../../login-for-test.ts';

/** The provider's API as one replica of login uses it. */
interface Replica {
  providers: Providers;
  /** For a login that read the configuration now. */
  provider(): Promise<Provider>;
}

export interface ProviderForTest {
  sandbox: Sandbox;
  service: LoginForTest;
  /** The accessor of the mount. */
  accessor: string;
  mountId: string;
  /** Writes the configuration: by default, with the secret of the sandbox's application and without waiting before retries. */
  configure(over?: object): Promise<void>;
  replica(environment?: EnvironmentCredentials): Replica;
  /** The operations since the last call of this function, first those of the directory, then those of the resource API. */
  calls(): string[];
  stop(): Promise<void>;
}

/** A mount of login with a configuration, and the provider that the sandbox simulates. */
export async function startProviderForTest(): Promise<ProviderForTest> {
  const sandbox = await startSandbox();
  const urls = sandboxUrls(sandbox);
  const service = await startLoginForTest(urls);
  const { clientId, clientSecret } = sandbox.directory.application;
  await service.call('POST', '/sys/auth/cloudB', { type: 'cloudB' });
  const [mount] = await service.db.query<{ id: string; accessor: string }>(
    'select id, accessor from login.auth_mounts',
  );
  const { id: mountId, accessor } = mount!;
  const configNow = async () =>
    (
      await service.db.query<{ settings: ConfigSettings }>(
        'select settings from login.cloudb_configs where mount_id = $1',
        [mountId],
      )
    )[0]!.settings;
  const simulations = [sandbox.directory, sandbox.resourceManager].map((of) => ({ of, seen: 0 }));
  const forTest: ProviderForTest = {
    sandbox,
    service,
    accessor,
    mountId,
    configure: async (over = {}) => {
      const usual = { tenant_id: sandbox.tenantId, resource: audience, retry_delay: 0 };
      const body = { ...usual, client_id: clientId, client_secret: clientSecret, ...over };
      const { status, body: response } = await service.call('POST', '/auth/cloudB/config', body);
      if (status >= 400) throw new Error(JSON.stringify(response));
    },
    replica: (environment = {}) => {
      const { db, keyRing, log } = service;
      const debugLog = log.child({}, { level: 'debug' });
      const rows = rowGuard(service.rowKeys);
      const providers = createProviders(new MountClients({ db, rows, keyRing, urls, environment, debugLog }));
      const of = (config: ConfigSettings) => providers.of({ mountId, namespacePath: '', accessor, config });
      return { providers, provider: async () => of(await configNow()) };
    },
    calls: () => simulations.flatMap(operationsSince),
    stop: async () => {
      await service.stop();
      await sandbox.stop();
    },
  };
  await forTest.configure();
  return forTest;
}

function operationsSince(counted: { of: { calls(): { operation: string }[] }; seen: number }): string[] {
  const all = counted.of.calls().map(({ operation }) => operation);
  const fresh = all.slice(counted.seen);
  counted.seen = all.length;
  return fresh;
}
