import { type Answer, client, expectStatus } from '../../tests/harness/http.ts';
import { expectEqual, refusal } from './steps.ts';
import type { Tour } from './tour-setting.ts';

/** Prerequisites of the workload: a secret `shop` in the mount, and a destination. */
type Setting = Omit<Tour, 'prefix'>;

const principal = '6f1a2c5e-8f0e-4c7b-9a58-1e5b1a3f0c11';
const otherPrincipal = '00000000-0000-4000-8000-000000000000';
const resource = 'https://secrets.example.test';

/** A workload logs in with a JWT, does what its policy allows, and is refused everything else. */
export async function workloadLogsIn(setting: Setting): Promise<void> {
  const { step, mount } = setting;
  await step('Let workloads log in: auth mount, configuration, policy, role', () => allowLogin(setting));
  let token = '';
  await step('Log in as a workload, with the JWT that its cloud issued', async () => {
    const { auth } = expectStatus(await login(setting, principal, resource), 200).body;
    expectEqual(auth.policies, ['default', mount], 'policies');
    token = auth.client_token;
    return `policies ${auth.policies.join(', ')}`;
  });
  await step('As the workload, write and sync the secret "app/db"', () => useOwnSecret(setting, token));
  await step('As the workload, read and sync "shop", which its policy does not allow', () =>
    useOtherSecret(setting, token),
  );
  await step('Log in with a JWT for another audience', async () =>
    refusal(await login(setting, principal, 'https://elsewhere.test'), 'the login'),
  );
  await step('Log in with a JWT of another principal', async () =>
    refusal(await login(setting, otherPrincipal, resource), 'the login'),
  );
}

const authMount = ({ mount }: Setting) => `workloads-${mount}`;

async function allowLogin(setting: Setting): Promise<void> {
  const { root, sandbox, mount } = setting;
  const auth = authMount(setting);
  const { tenant_id } = await sandbox.directory();
  const policy = `path "${mount}/data/app/*" { capabilities = ["create", "read", "update"] }
path "sys/sync/destinations/cloudA-sm/+/associations/*" { capabilities = ["create", "update"] }`;
  const role = { policies: mount, bound_service_principal_ids: [principal], token_ttl: '1h' };
  for (const [path, body] of [
    [`sys/auth/${auth}`, { type: 'cloudB' }],
    [`auth/${auth}/config`, { tenant_id, resource }],
    [`sys/policies/acl/${mount}`, { policy }],
    [`auth/${auth}/role/shop`, role],
  ] as const)
    expectStatus(await root('POST', path, body), 204);
}

/** Logs in with a JWT of the sandbox's directory. */
async function login(setting: Setting, oid: string, audience: string): Promise<Answer> {
  const jwt = await setting.sandbox.issueToken({ oid, audience });
  const anonymous = client(setting.service.url, undefined);
  return anonymous('POST', `auth/${authMount(setting)}/login`, { role: 'shop', jwt });
}

async function useOwnSecret({ service, mount, destination }: Setting, token: string): Promise<string> {
  const workload = client(service.url, token);
  expectStatus(await workload('POST', `${mount}/data/app/db`, { data: { url: 'postgres://db' } }), 200);
  const request = { mount, secret_name: 'app/db' };
  const { body } = expectStatus(await workload('POST', `${destination}/associations/set`, request), 200);
  const [association] = Object.values<{ sync_status: string }>(body.data.associated_secrets);
  expectEqual(association?.sync_status, 'SYNCED', 'status');
  return 'SYNCED';
}

async function useOtherSecret({ service, mount, destination }: Setting, token: string): Promise<string> {
  const workload = client(service.url, token);
  const request = { mount, secret_name: 'shop' };
  const read = refusal(await workload('GET', `${mount}/data/shop`), 'the read');
  const set = refusal(await workload('POST', `${destination}/associations/set`, request), 'the sync');
  return `${read}; ${set}`;
}
