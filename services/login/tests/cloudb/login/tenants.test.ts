import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Sandbox, startSandbox } from '@secrets/sandbox';
import { anonymous, audience, type LoginForTest, oid, startLoginForTest } from '../../login-for-test.ts';

const mounts = ['cloudB', 'cloudB-two', 'other/team'] as const;
const tenantIds = mounts.map((_mount, index) => `${index}9999999-aaaa-4bbb-8ccc-999999999999`);
let tenants: Sandbox[];
let front: Server;
let login: LoginForTest;

beforeAll(async () => {
  tenants = await Promise.all(tenantIds.map((tenantId) => startSandbox({ tenantId })));
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
    const tenant = all.find(({ tenantId }) => incoming.url!.includes(tenantId))!;
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
