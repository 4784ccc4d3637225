import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { insertToken, writePolicy } from '@secrets/access/testing';
import { parseInternalKeys } from '@secrets/caller';
import { eventually } from '@secrets/testing';
import { ask, startGateway, useGateway } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const json = { 'content-type': 'application/json' };
const { db, stubs, gateway } = useGateway(keys);
let root: { token: string; accessor: string };

const lines = () => gateway.audit.map((line) => JSON.parse(line));
const received = () => stubs.flatMap((stub) => stub.received).filter(({ url }) => url?.startsWith('/v1/'));
const hashed = (secret: string) => {
  const key = Buffer.from(hkdfSync('sha256', keys.keyFor('gateway', 'login'), '', 'audit log', 32));
  return `hmac-sha256:${createHmac('sha256', key).update(secret).digest('hex')}`;
};

beforeAll(async () => {
  await db.query(
    "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('root', 'cloudB', 'cloudB', 'a1')",
  );
  await writePolicy(db, 'reader', { 'kv/data/*': ['read'], 'sys/audit-hash/*': ['update'] });
  root = await insertToken(db);
});
beforeEach(() => {
  gateway.audit.length = 0;
  gateway.logs.length = 0;
  for (const stub of stubs) stub.received.length = 0;
});

const counted = async (name: string) =>
  Number(new RegExp(`^${name}\\{.*\\} (.*)$`, 'm').exec(await gateway.metrics.text())?.[1]);

test('requests with a root token are counted', async () => {
  const before = await counted('gateway_root_token_requests_total');
  const { token } = await insertToken(db, { policies: ['reader'] });
  await ask(gateway, { token });
  expect(await counted('gateway_root_token_requests_total')).toBe(before);
  await ask(gateway, { token: root.token });
  expect(await counted('gateway_root_token_requests_total')).toBe(before + 1);
});

describe('a request and its response', () => {
  test('have a line each, with the same fields; tokens and accessors are keyed hashes', async () => {
    const { token, accessor } = await insertToken(db, { policies: ['reader'] });
    await ask(gateway, { token, headers: { 'x-request-id': 'r-1' } });
    const about = {
      kind: 'audit',
      time: expect.stringMatching(/^\d{4}-/),
      request_id: 'r-1',
      remote_address: '127.0.0.1',
      namespace: '',
      operation: 'read',
      path: 'kv/data/a',
      token: hashed(token),
      accessor: hashed(accessor),
      display_name: 'test',
      entity_id: null,
      policies: ['reader'],
      allowed: true,
      reason: null,
    };
    const issued = { issued_token: null, issued_accessor: null };
    expect(lines()).toEqual([
      { ...about, type: 'request' },
      { ...about, ...issued, type: 'response', status: 200, duration_ms: expect.any(Number) },
    ]);
    expect(lines()[1].duration_ms).toBeGreaterThan(0);
  });

  test.each([
    ['a permitted request', {}, 200, null],
    ['an invalid path', { path: '/v1/kv//a' }, 400, 'the path has an empty segment'],
    ['an unknown path', { path: '/v1/sys/unknown' }, 404, 'no such path'],
    ['a large body', { method: 'POST', body: 'x'.repeat(1_100_000) }, 413, 'the body exceeds 1 MiB'],
    ['a refusal by a service', { path: '/v1/kv/data/a?refuse=true' }, 409, 'tête-à-tête; second'],
    ['a failure of a service', { path: '/v1/kv/data/a?break=true' }, 500, /internal error/],
  ])('%s: the line of the response has its status and reason', async (_what, asked, status, reason) => {
    const { status: sent } = await ask(gateway, { token: root.token, ...asked });
    expect(sent).toBe(status);
    expect(lines().map(({ type }) => type)).toEqual(['request', 'response']);
    const [, response] = lines();
    const words = reason instanceof RegExp ? expect.stringMatching(reason) : reason;
    expect(response).toMatchObject({ status, reason: status === 400 ? expect.any(String) : words });
  });

  test('of a login: one that fails differs from one that succeeds, which names what it issued', async () => {
    const login = { method: 'POST', path: '/v1/auth/cloudB/login', headers: json, body: '{}' };
    expect((await ask(gateway, { ...login, path: `${login.path}?refuse=true` })).status).toBe(409);
    expect((await ask(gateway, { ...login, path: `${login.path}?issue=true` })).status).toBe(200);
    const [failed, succeeded] = lines().filter(({ type }) => type === 'response');
    expect(failed).toMatchObject({ status: 409, reason: 'tête-à-tête; second', issued_accessor: null });
    expect(succeeded).toMatchObject({
      status: 200,
      reason: null,
      issued_token: hashed('sst_issued'),
      issued_accessor: hashed('accessor-issued'),
    });
    expect(gateway.audit.join()).not.toMatch(/sst_issued|accessor-issued/);
  });

  test('of a client that disconnects: the outcome says so', async () => {
    const { hostname, port } = new URL(gateway.url);
    const headers = { 'x-service-token': root.token };
    const sent = httpRequest({ hostname, port, path: '/v1/kv/data/a?slow=true', headers });
    sent.on('error', () => undefined).end();
    await eventually(() => received().length > 0);
    sent.destroy();
    await eventually(() => gateway.audit.length === 2);
    expect(lines()[1]).toMatchObject({ type: 'response', status: 499, reason: 'the client disconnected' });
  });

  test('have no secret, value or query, and neither do the logs', async () => {
    const canary = `canary${randomBytes(6).toString('hex')}`;
    const body = JSON.stringify({ data: { password: canary } });
    const asked = { method: 'POST', headers: { ...json, 'x-other': canary }, body };
    await ask(gateway, { ...asked, token: root.token, path: `/v1/kv/data/a?x=${canary}` });
    await ask(gateway, { ...asked, token: root.token, path: `/v1/kv/data/a?break=true&x=${canary}` });
    await ask(gateway, { ...asked, token: `sst_${canary}` });
    await ask(gateway, { token: root.token, path: `/v1/kv//data?x=${canary}` });
    expect(gateway.audit).toHaveLength(8);
    const written = [...gateway.audit, ...gateway.logs].join('');
    for (const secret of [canary, root.token, root.accessor]) expect(written).not.toContain(secret);
  });

  test('are short if the request is refused, however long its path and namespace are', async () => {
    const long = 'ab'.repeat(3_000);
    const headers = { 'x-service-namespace': long };
    await ask(gateway, { path: `/v1/kv/data/${long}`, headers });
    await ask(gateway, { path: `/v1/kv//data/${long}`, headers });
    await ask(gateway, { path: `/v1/kv/data/${long}`, headers, token: root.token });
    expect(gateway.audit).toHaveLength(6);
    for (const line of gateway.audit) expect(line.length).toBeLessThan(2_000);
  });
});

describe('a line is written before what it is about', () => {
  test('a request whose line cannot be written is refused, and reaches no service', async () => {
    gateway.failAudit.from = 0;
    const answer = await ask(gateway, { method: 'POST', token: root.token, body: '{}', headers: json });
    gateway.failAudit.from = undefined;
    expect(answer).toMatchObject({ status: 503, body: { errors: ['the audit log cannot be written'] } });
    expect(received()).toEqual([]);
    expect(gateway.logs.join()).toContain('disk full');
    expect(await counted('gateway_audit_failures_total')).toBe(1);
  });

  test.each([
    ['small', '/v1/kv/data/a'],
    ['large', '/v1/kv/data/a?large=3000000'],
    ['refusing', '/v1/kv/data/a?refuse=true'],
    ["the gateway's own", '/v1/sys/unknown'],
  ])('a %s response whose line cannot be written is not sent', async (_size, path) => {
    gateway.failAudit.from = 1;
    const answer = await ask(gateway, { token: root.token, path });
    gateway.failAudit.from = undefined;
    expect(answer).toMatchObject({ status: 503, body: { errors: ['the audit log cannot be written'] } });
    expect(lines()).toMatchObject([{ type: 'request' }]);
  });

  test('the body is read after the line of the request', async () => {
    const { hostname, port } = new URL(gateway.url);
    const headers = { 'x-service-token': root.token, 'content-length': '10', ...json };
    const sent = httpRequest({ hostname, port, method: 'POST', path: '/v1/kv/data/late', headers });
    sent.flushHeaders();
    await eventually(() => gateway.audit.length > 0);
    expect(received()).toEqual([]);
    sent.end('{"a":"12"}');
    const [answer] = await once(sent, 'response');
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });

  test.each(['/v1/kv/data/a', '/v1/kv/data/a?large=3000000'])(
    'nothing of the response to %s is sent before its line is written, and then all of it',
    async (path) => {
      const held = Promise.withResolvers<void>();
      gateway.failAudit.hold = held.promise;
      const { hostname, port } = new URL(gateway.url);
      const socket = connect(Number(port), hostname);
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nX-Service-Token: ${root.token}\r\nConnection: close\r\n\r\n`,
      );
      await eventually(() => gateway.audit.length === 2);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(bytes).toBe(0);
      gateway.failAudit.hold = undefined;
      held.resolve();
      await once(socket, 'close');
      expect(bytes).toBeGreaterThan(path.includes('large') ? 3_000_000 : 300);
    },
  );
});

test('a slow audit log delays requests, but neither refuses them nor stops what is not audited', async () => {
  const slow = Promise.withResolvers<void>();
  gateway.failAudit.hold = slow.promise;
  let answered = 0;
  const asked = Array.from({ length: 50 }, async () => {
    const { status } = await ask(gateway, { token: root.token });
    answered += 1;
    return status;
  });
  await eventually(() => gateway.audit.length > 1);
  for (let checks = 0; checks < 5; checks++)
    expect((await ask(gateway, { path: '/v1/sys/health' })).status).toBe(200);
  expect(answered).toBeLessThan(50);
  gateway.failAudit.hold = undefined;
  slow.resolve();
  expect(await Promise.all(asked)).toEqual(Array(50).fill(200));
  expect(gateway.audit).toHaveLength(100);
});

describe('a request that is not valid HTTP', () => {
  const send = async (bytes: string) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(bytes);
    return text(socket);
  };

  test('has a line with the status and the reason of its response', async () => {
    const answer = await send('BREW /v1/kv/data/a HTTP/1.1\r\nHost: x\r\nX-Service-Token: canary\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    const [, requestId] = /x-request-id: (\S+)/.exec(answer)!;
    expect(lines()).toMatchObject([
      {
        type: 'response',
        request_id: requestId,
        remote_address: '127.0.0.1',
        allowed: false,
        status: 400,
        reason: 'invalid HTTP request or unsupported method',
      },
    ]);
    expect(gateway.audit.join()).not.toContain('canary');
  });

  test('gets no response if the line cannot be written', async () => {
    gateway.failAudit.from = 0;
    expect(await send('nonsense\r\n\r\n')).toBe('');
    gateway.failAudit.from = undefined;
  });
});

describe('sys/audit-hash', () => {
  const hash = { method: 'POST', path: '/v1/sys/audit-hash/file', headers: json };

  test('returns the hash of a token or an accessor as it appears in the log, on every gateway', async () => {
    const other = await startGateway({ db, keys, stubs });
    for (const each of [gateway, other]) {
      const { status, body } = await ask(each, {
        ...hash,
        token: root.token,
        body: JSON.stringify({ input: root.accessor }),
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ data: { hash: hashed(root.accessor) }, hash: hashed(root.accessor) });
    }
    expect(lines()).toMatchObject([{ accessor: hashed(root.accessor) }, { accessor: hashed(root.accessor) }]);
    await other.stop();
  });

  test('names fields that it does not know, like every other path', async () => {
    const body = '{"input":"x","inputs":"y"}';
    const { warnings } = (await ask(gateway, { ...hash, token: root.token, body })).body;
    expect(warnings).toEqual(['unknown field inputs was ignored']);
  });

  test('needs sudo, an input and an existing device', async () => {
    const { token } = await insertToken(db, { policies: ['reader'] });
    const body = '{"input":"x"}';
    expect((await ask(gateway, { ...hash, token, body })).status).toBe(403);
    const refused = { '{}': 'input is required', '{"input":""}': 'input: must not be empty' };
    for (const [input, error] of Object.entries(refused))
      expect(await ask(gateway, { ...hash, token: root.token, body: input })).toMatchObject({
        status: 400,
        body: { errors: [error] },
      });
    expect((await ask(gateway, { ...hash, token: root.token, body: '{' })).status).toBe(400);
    const unknown = { ...hash, path: '/v1/sys/audit-hash/tape', token: root.token, body };
    expect(await ask(gateway, unknown)).toMatchObject({
      status: 400,
      body: { errors: ['there is no audit device tape'] },
    });
    expect((await ask(gateway, { path: hash.path, token: root.token })).status).toBe(405);
  });

  test('refuses to wrap its response, and so does sys/audit; public documents are never wrapped', async () => {
    const wrapped = { token: root.token, headers: { ...json, 'x-vault-wrap-ttl': '60' } };
    for (const asked of [{ ...hash, body: '{"input":"x"}' }, { path: '/v1/sys/audit' }])
      expect(await ask(gateway, { ...asked, ...wrapped })).toMatchObject({
        status: 400,
        body: { errors: ['the response of this path cannot be wrapped'] },
      });
    const sealStatus = await ask(gateway, { ...wrapped, path: '/v1/sys/seal-status' });
    expect(sealStatus).toMatchObject({ status: 200, body: { sealed: false } });
  });

  test('sys/audit lists the devices', async () => {
    const { body } = await ask(gateway, { path: '/v1/sys/audit', token: root.token });
    const devices = { 'file/': { type: 'file', description: '', options: {}, local: false, path: 'file/' } };
    expect(body).toMatchObject({ ...devices, data: devices });
  });
});
