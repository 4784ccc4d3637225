import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '@secrets/sandbox';
import { anonymous, audience, type LoginForTest, oid, startLoginForTest } from '../../login-for-test.ts';

const mounts = ['cloudB', 'cloudB-two', 'other/team'] as const;
const tenantIds = mounts.map((_mount, index) => `${index}9999999-aaaa-4bbb-8ccc-999999999999`);
let tenants: Sandbox[];
let front: Server;
let login: LoginForTest;

beforeAll(async () => {
  tenants = await Promise.all(tenantIds.map((tenantId) => startSandbox({ tenantId })));
  for (const { directory } of tenants) directory.configure({ domains: [] });
  front = await serveAll(tenants);
  const { pathname } = new URL(tenants[0]!.directoryUrl);
  const { port } = front.address() as AddressInfo;
  login = await startLoginForTest({ authorityUrl: `http://127.0.0.1:${port}${pathname}/` });
  for (const [index, mount] of mounts.entries()) {
    await login.call('POST', `/sys/auth/${mount}`, { type: 'cloudB' });
    const config = { tenant_id: tenantIds[index], resource: audience };
    await login.call('POST', `/auth/${mount}/config`, config);
    await login.call('POST', `/auth/${mount}/role/web`, { bound_service_principal_ids: oid });
  }
});
afterAll(async () => {
  await login.stop();
  front.closeAllConnections();
  await new Promise((resolve) => front.close(resolve));
  await Promise.all(tenants.map((tenant) => tenant.stop()));
});

/** One directory for all tenants: passes a request to the one that its path names. */
function serveAll(all: readonly Sandbox[]): Promise<Server> {
  const server = createServer((incoming, response) => {
    const named = ({ tenantId, directory }: Sandbox) =>
      [tenantId, ...directory.settings.domains].some((name) => incoming.url!.includes(`/${name}/`));
    const tenant = all.find(named) ?? all[0]!;
    const { hostname, port } = new URL(tenant.directoryUrl);
    const { method, url: path, headers } = incoming;
    request({ hostname, port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    }).end();
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)));
}

const logIn = async (mount: string, tenant: Sandbox) => {
  const jwt = await tenant.directory.issueToken({ oid, audience });
  return login.call('POST', `/auth/${mount}/login`, { role: 'web', jwt }, anonymous);
};

test('each mount admits the identities of its own tenant only', async () => {
  for (const mount of mounts)
    for (const tenant of tenants) {
      const isOwn = tenant.tenantId === tenantIds[mounts.indexOf(mount)];
      expect((await logIn(mount, tenant)).status).toBe(isOwn ? 200 : 403);
    }
});

describe('a mount whose tenant was given by a domain', () => {
  const domain = 'contoso.example';
  const config = { tenant_id: domain, resource: audience };
  const write = async (method: string, body: object) =>
    (await login.call(method, '/auth/by-domain/config', body)).status;
  const admitted = async () =>
    Promise.all(tenants.map(async (tenant) => (await logIn('by-domain', tenant)).status));
  const moveDomainTo = (index: number) => {
    for (const [at, { directory }] of tenants.entries())
      directory.configure({ domains: at === index ? [domain] : [] });
  };
  beforeAll(async () => {
    moveDomainTo(1);
    await login.call('POST', '/sys/auth/by-domain', { type: 'cloudB' });
    expect(await write('POST', config)).toBe(204);
    await login.call('POST', '/auth/by-domain/role/web', { bound_service_principal_ids: oid });
  });

  test('admits the identities of the tenant that has it', async () => {
    expect(await admitted()).toEqual([403, 200, 403]);
  });

  test('admits the same ones after the domain has moved to another tenant, whatever else is written', async () => {
    moveDomainTo(2);
    expect(await admitted()).toEqual([403, 200, 403]);
    expect(await write('PATCH', { max_retries: 1 })).toBe(204);
    expect(await write('POST', { ...config, max_retries: 2 })).toBe(204);
    expect(await write('POST', { ...config, tenant_id: 'Contoso.example' })).toBe(204);
    expect(await admitted()).toEqual([403, 200, 403]);
  });

  test('admits those of another tenant once its ID is written, and then those of the one that has the domain', async () => {
    expect(await write('POST', { ...config, tenant_id: tenantIds[0] })).toBe(204);
    expect(await admitted()).toEqual([200, 403, 403]);
    expect(await write('POST', config)).toBe(204);
    expect(await admitted()).toEqual([403, 403, 200]);
  });
});

test('the same principal has an entity of its own in each mount', async () => {
  const logins = await Promise.all(mounts.map((mount, index) => logIn(mount, tenants[index]!)));
  expect(new Set(logins.map(({ body }) => body.auth.entity_id)).size).toBe(mounts.length);
});

test('disabling one mount leaves the tokens of the others', async () => {
  const tokens = await Promise.all(
    mounts.map(async (mount, index) => (await logIn(mount, tenants[index]!)).body.auth.client_token),
  );
  await login.call('DELETE', '/sys/auth/cloudB-two');
  const accepted = await Promise.all(tokens.map((token) => login.isAccepted(token)));
  expect(accepted).toEqual([true, false, true]);
});
