import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { insertToken } from '@secrets/access/testing';
import { parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { eventually } from '@secrets/testing';
import { ask, type Stub, startGateway, startStubs, type TestGateway } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const json = { 'content-type': 'application/json' };
const loginPath = '/v1/auth/cloudB/login';
const kib = 1_024;
let db: Db;
let stubs: Stub[];
let root: string;
const running: TestGateway[] = [];
const sockets: Socket[] = [];

beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('root', 'cloudB', 'cloudB', 'a1')",
  );
  stubs = await startStubs(keys);
  root = (await insertToken(db)).token;
});
afterAll(async () => {
  await Promise.all(stubs.map((stub) => stub.stop()));
  await db.close();
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(running.splice(0).map((gateway) => gateway.stop()));
});

async function start(config: Parameters<typeof startGateway>[1] = {}): Promise<TestGateway> {
  const gateway = await startGateway({ db, keys, stubs }, config);
  running.push(gateway);
  return gateway;
}

const bodyOf = (bytes: number) => JSON.stringify({ x: 'x'.repeat(bytes - 8) });
const post = (gateway: TestGateway, path: string, bytes: number, token?: string) =>
  ask(gateway, { method: 'POST', path, headers: json, body: bodyOf(bytes), ...(token && { token }) });

const heldBytes = async ({ metrics }: TestGateway) =>
  Number(/^gateway_body_bytes\S* (\d+)$/m.exec(await metrics.text())?.[1]);

/** A client that announces a body and sends all of it but the last byte. `answer` resolves when the connection is closed. */
async function almostSend(gateway: TestGateway, path: string, bytes: number, token?: string) {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  const header = token === undefined ? '' : `x-service-token: ${token}\r\n`;
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: a\r\n${header}content-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n`,
  );
  socket.write(bodyOf(bytes).slice(0, -1));
  return { socket, received: () => received };
}

describe('a body', () => {
  test('of a request without a token has at most 128 KiB', async () => {
    const gateway = await start();
    expect((await post(gateway, loginPath, 128 * kib)).status).toBe(200);
    expect(await post(gateway, loginPath, 128 * kib + 1)).toMatchObject({
      status: 413,
      body: { errors: ['the body exceeds 128 KiB'] },
    });
    expect((await post(gateway, '/v1/kv/data/a', 1_024 * kib, root)).status).toBe(200);
  });

  test('of a request without a token that does not arrive in time is refused, and its connection closed', async () => {
    const gateway = await start({ publicTimeoutMs: 300 });
    const slow = await almostSend(gateway, loginPath, 50 * kib);
    const closed = once(slow.socket, 'close');
    const withToken = await almostSend(gateway, '/v1/kv/data/a', 50 * kib, root);
    await closed;
    expect(slow.received()).toMatch(/^HTTP\/1.1 408 [\s\S]*the body did not arrive in time/);
    withToken.socket.write('}');
    await eventually(() => expect(withToken.received()).toMatch(/^HTTP\/1.1 200 /));
  });
});

describe('what costs time although it has few bytes is refused before it is parsed', () => {
  const few = Array.from({ length: 256 }, (_, at) => [`a${at}`, 1]);
  const forwarded = () => stubs.flatMap(({ received }) => received.splice(0).map(({ url }) => url));
  const anonymous = { method: 'POST', path: loginPath, headers: json };
  test.each([
    ['has more than 256 values', JSON.stringify(Object.fromEntries(few))],
    ['is nested deeper than 4 levels', `{"jwt":${'['.repeat(65_000)}`],
  ])('without a token: a body that %s', async (excess, body) => {
    const gateway = await start();
    forwarded();
    const response = await ask(gateway, { ...anonymous, body });
    expect(response).toMatchObject({ status: 400, body: { errors: [`the body ${excess}`] } });
    expect(forwarded()).toEqual([]);
    const accepted = JSON.stringify(Object.fromEntries(few.slice(1)));
    expect((await ask(gateway, { ...anonymous, body: accepted })).status).toBe(200);
  });

  test.each([
    ['has more than 5,010 values', `{"data":{"a":[${'1.0,'.repeat(240_000)}1]}}`],
    ['is nested deeper than 101 levels', `{"data":${'['.repeat(500_000)}`],
  ])('with a token: a body that %s', async (excess, body) => {
    const gateway = await start();
    forwarded();
    const response = await ask(gateway, { method: 'POST', token: root, headers: json, body });
    expect(response).toMatchObject({ status: 400, body: { errors: [`the body ${excess}`] } });
    expect(forwarded()).toEqual([]);
  });

  test('a query of more than 100 parameters', async () => {
    const gateway = await start();
    const response = await ask(gateway, { path: `/v1/kv/data/a?${'a&'.repeat(1_200)}list=1`, token: root });
    expect(response).toMatchObject({
      status: 400,
      body: { errors: ['the query has more than 100 parameters'] },
    });
  });
});

describe('the memory for bodies', () => {
  test('has a part for one address without a token, and the rest for tokens', async () => {
    const gateway = await start({ settings: { BODY_MEMORY_MIB: 4 } });
    const clients: Awaited<ReturnType<typeof almostSend>>[] = [];
    for (let client = 0; client < 5; client += 1)
      clients.push(await almostSend(gateway, loginPath, 127 * kib));
    await eventually(() =>
      expect(clients.filter(({ received }) => received().startsWith('HTTP/1.1 429 '))).toHaveLength(1),
    );
    expect(await post(gateway, loginPath, 100 * kib)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      body: { errors: ['too many request bodies of this client at once'] },
    });
    expect((await post(gateway, '/v1/kv/data/a', 1_000 * kib, root)).status).toBe(200);
  });

  test('has a part for one token, and is free again when a client disconnects', async () => {
    const gateway = await start({ settings: { BODY_MEMORY_MIB: 4 } });
    const { token: other } = await insertToken(db);
    const { socket } = await almostSend(gateway, '/v1/kv/data/a', 900 * kib, root);
    await eventually(async () => expect(await heldBytes(gateway)).toBe(900 * kib - 1));
    expect((await post(gateway, '/v1/kv/data/a', 200 * kib, root)).status).toBe(429);
    expect((await post(gateway, '/v1/kv/data/a', 200 * kib, other)).status).toBe(200);
    socket.destroy();
    await eventually(async () => expect(await heldBytes(gateway)).toBe(0));
    expect((await post(gateway, '/v1/kv/data/a', 200 * kib, root)).status).toBe(200);
  });

  test('is free again after each response', async () => {
    const gateway = await start({ settings: { BODY_MEMORY_MIB: 4 } });
    for (let request = 0; request < 10; request += 1)
      expect((await post(gateway, '/v1/kv/data/a', 800 * kib, root)).status).toBe(200);
  });
});

test('a rate limit of all gateways together is refused with the time to wait, within a tenth of what is stated', async () => {
  await db.query(
    `insert into login.rate_limit_quotas (name, namespace_id, path, written_path, rate, interval_seconds, block_seconds, inheritable, group_by)
     values ('writes', 'root', 'kv/data/limited', '', 40, 86400, 0, false, 'none')`,
  );
  const gateways = [await start(), await start()];
  const asked = { path: '/v1/kv/data/limited/a', token: root };
  const sent = gateways.flatMap((gateway) => Array.from({ length: 60 }, () => ask(gateway, asked)));
  const allowed = (await Promise.all(sent)).filter(({ status }) => status === 200).length;
  expect(allowed).toBeGreaterThanOrEqual(36);
  expect(allowed).toBeLessThanOrEqual(44);
  const refused = await ask(gateways[0]!, asked);
  expect(refused).toMatchObject({ status: 429, body: { errors: ['the rate limit writes is exceeded'] } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(JSON.parse(gateways[0]!.audit.at(-1)!)).toMatchObject({
    allowed: false,
    reason: 'the rate limit writes is exceeded',
  });
  expect((await ask(gateways[0]!, { path: '/v1/kv/data/b', token: root })).status).toBe(200);
});

test.each(['/v1/sys/sync/events?slow=true', '/v1/sys/sync/associations/kv/a?wait=60s&slow=true'])(
  'long responses, such as that of %s, are counted until their clients disconnect',
  async (path) => {
    const gateway = await start();
    const count = async () =>
      Number(/^gateway_event_streams\S* (\d+)$/m.exec(await gateway.metrics.text())?.[1]);
    const headers = { 'x-service-token': root };
    const following = get(`${gateway.url}${path}`, { headers });
    following.on('error', () => undefined); // it is destroyed below
    await eventually(async () => expect(await count()).toBe(1));
    following.destroy();
    await eventually(async () => expect(await count()).toBe(0));
  },
);

test('unwrapping and looking up responses without another token count with the logins of an address', async () => {
  const wrapping = { method: 'POST', headers: json, body: '{}', token: `swt_${'x'.repeat(43)}` };
  for (const path of ['/v1/sys/wrapping/unwrap', '/v1/sys/wrapping/lookup']) {
    await db.query('delete from login.rate_limit_usage');
    const gateway = await start({ settings: { LOGIN_RATE_LIMIT: 2 } });
    const asked = Array.from({ length: 40 }, () => ask(gateway, { ...wrapping, path }));
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses).toContain(200);
    expect(statuses).toContain(429);
    const withToken = { ...wrapping, path, token: root, body: '{"token":"swt_x"}' };
    if (path.endsWith('unwrap')) expect((await ask(gateway, withToken)).status).toBe(200);
  }
});

test('a request whose response is to be wrapped is refused before it takes effect, if its namespace has no space', async () => {
  const gateway = await start();
  const secrets = stubs.find(({ name }) => name === 'secrets')!;
  const received = secrets.received.length;
  const wrapped = { token: root, path: '/v1/kv/data/full', headers: { 'x-service-wrap-ttl': '60' } };
  await db.query("insert into login.wrapped_space (namespace_id, bytes) values ('root', $1)", [
    256 * 2 ** 20,
  ]);
  const refused = await ask(gateway, wrapped);
  expect([refused.status, refused.body.errors, refused.headers['retry-after']]).toEqual([
    429,
    ['the wrapped responses of this namespace take 256.0 MiB of 256 MiB: unwrap or revoke some'],
    '60',
  ]);
  expect(secrets.received).toHaveLength(received);
  expect(await gateway.metrics.text()).toMatch(/^gateway_wraps_refused_total\S* 1$/m);
  const rewrap = { ...wrapped, method: 'POST', path: '/v1/sys/wrapping/rewrap', body: '{}' };
  expect((await ask(gateway, { ...rewrap, headers: { ...json, ...wrapped.headers } })).status).toBe(200);
  await db.query('update login.wrapped_space set bytes = bytes - 1');
  expect((await ask(gateway, wrapped)).status).toBe(200);
  await db.query('delete from login.wrapped_space');
});

describe('requests by a foreign name, or of pages of other sites', () => {
  const rebound = { host: 'evil.example' };
  const crossSite = { ...json, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };

  test('are refused with the setting that permits them, and audited', async () => {
    const gateway = await start({ allowedHosts: ['vault.example'] });
    const refused = await ask(gateway, { token: root, headers: rebound });
    expect([refused.status, refused.body.errors[0]]).toEqual([403, expect.stringContaining('ALLOWED_HOSTS')]);
    expect(gateway.audit.map((line) => JSON.parse(line).reason)).toContainEqual(refused.body.errors[0]);
    expect((await ask(gateway, { path: '/ui/', headers: rebound })).status).toBe(403);
    const posted = await ask(gateway, { method: 'POST', token: root, headers: crossSite, body: '{}' });
    expect(posted.status).toBe(403);
    for (const host of ['localhost', 'vault.example:443'])
      expect((await ask(gateway, { token: root, headers: { host } })).status).toBe(200);
  });

  test('are not recognised without names to compare with', async () => {
    expect((await ask(await start(), { token: root, headers: rebound })).status).toBe(200);
  });
});
