import { client, send } from './http.ts';
import type { DemoService } from './service.ts';
import { expectEqual, step } from './steps.ts';

/** What the workload meets: a secret `shop` in the mount, and a destination of type cloudA-sm. */
export interface WorkloadSetting {
  service: DemoService;
  /** A client with the root token. */
  root: ReturnType<typeof client>;
  mount: string;
  destination: string;
}

const principal = '6f1a2c5e-8f0e-4c7b-9a58-1e5b1a3f0c11';
const resource = 'https://secrets.example.test';

/** A workload logs in with a JWT, uses what its policy allows, and is refused everything else. */
export async function workloadLogsIn(setting: WorkloadSetting): Promise<void> {
  await step('let workloads log in: auth mount, configuration, policy, role', () => allowLogin(setting));
  let token = '';
  await step('a workload logs in with the JWT that its cloud issued', async () => {
    const answer = await login(setting, { oid: principal, audience: resource });
    expectEqual(answer.status, 200, `login (${JSON.stringify(answer.body)})`);
    expectEqual(answer.body.auth.policies, ['default', setting.mount], 'policies');
    token = answer.body.auth.client_token;
    return `policies ${answer.body.auth.policies.join(', ')}`;
  });
  await step('it writes and syncs its own secret, and no other', () => useOwnSecret(setting, token));
  await step('a JWT for another audience, and one of another principal, are refused', async () => {
    const wrongAudience = await login(setting, { oid: principal, audience: 'https://elsewhere.test' });
    const wrongPrincipal = await login(setting, {
      oid: '00000000-0000-4000-8000-000000000000',
      audience: resource,
    });
    expectEqual([wrongAudience.status, wrongPrincipal.status], [403, 403], 'status');
    return `${wrongAudience.body.errors[0]} / ${wrongPrincipal.body.errors[0]}`;
  });
}

const authMount = ({ mount }: WorkloadSetting) => `workloads-${mount}`;

async function allowLogin(setting: WorkloadSetting): Promise<void> {
  const { root, service, mount } = setting;
  const auth = authMount(setting);
  const about = (await send(`${service.sandboxUrl}/_sandbox/about`, 'GET')).body;
  const policy = `path "${mount}/data/app/*" { capabilities = ["create", "read", "update"] }
path "sys/sync/destinations/cloudA-sm/+/associations/*" { capabilities = ["create", "update"] }`;
  for (const [path, body] of [
    [`sys/auth/${auth}`, { type: 'cloudB' }],
    [`auth/${auth}/config`, { tenant_id: about.directory.tenant_id, resource }],
    [`sys/policies/acl/${mount}`, { policy }],
    [
      `auth/${auth}/role/shop`,
      { policies: mount, bound_service_principal_ids: [principal], token_ttl: '1h' },
    ],
  ] as const) {
    const answer = await root('POST', path, body);
    expectEqual(answer.status, 204, `${path} (${JSON.stringify(answer.body)})`);
  }
}

/** Logs in with a JWT that the sandbox's directory issues for these claims. */
async function login(setting: WorkloadSetting, claims: { oid: string; audience: string }) {
  const { url, sandboxUrl } = setting.service;
  const issued = await send(`${sandboxUrl}/_sandbox/directory/token`, 'POST', undefined, claims);
  return client(url, undefined)('POST', `auth/${authMount(setting)}/login`, {
    role: 'shop',
    jwt: issued.body.token,
  });
}

async function useOwnSecret({ service, mount, destination }: WorkloadSetting, token: string): Promise<void> {
  const workload = client(service.url, token);
  const written = await workload('POST', `${mount}/data/app/db`, { data: { url: 'postgres://db' } });
  expectEqual(written.status, 200, 'write');
  const path = `sys/sync/destinations/cloudA-sm/${destination}/associations/set`;
  const set = await workload('POST', path, { mount, secret_name: 'app/db' });
  const associated: { sync_status: string }[] = Object.values(set.body.data?.associated_secrets ?? {});
  expectEqual(
    associated.map(({ sync_status }) => sync_status),
    ['SYNCED'],
    `set (${JSON.stringify(set.body)})`,
  );
  expectEqual((await workload('GET', `${mount}/data/shop`)).status, 403, 'reading another secret');
  const denied = await workload('POST', path, { mount, secret_name: 'shop' });
  expectEqual(denied.status, 403, 'syncing another secret');
}
