import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { OwningService } from '@secrets/access';
import { insertToken, revokeToken, writePolicy } from '@secrets/access/testing';
import { parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { startServer } from '@secrets/http';
import { eventually } from '@secrets/testing';
import { ask, startGateway, useGateway } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const json = { 'content-type': 'application/json' };
const denied = { status: 403, body: { errors: ['permission denied'] } };
const { db, stubs, gateway } = useGateway(keys);
let root: string;
let reader: string;

const auditLines = () => gateway.audit.map((line) => JSON.parse(line));
/** The lines of one request, of which there are two. */
const ofRequest = (fields: object, outcome: object) => [
  { ...fields, type: 'request' },
  { ...fields, type: 'response', ...outcome },
];
const receivedBy = (name: string) => stubs.find((stub) => stub.name === name)!.received;
const received = () => stubs.flatMap((stub) => stub.received).filter(({ url }) => url?.startsWith('/v1/'));

beforeAll(async () => {
  await db.query("insert into login.namespaces (id, path) values ('n1', 'team')");
  await db.query(
    "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('root', 'cloudB', 'cloudB', 'a1')",
  );
  await writePolicy(db, 'reader', {
    'kv/data/*': ['read'],
    'kv/data/secret/*': ['deny'],
    'kv/metadata/*': ['list'],
  });
  root = (await insertToken(db)).token;
  reader = (await insertToken(db, { policies: ['reader'] })).token;
});
beforeEach(() => {
  gateway.audit.length = 0;
  gateway.logs.length = 0;
  for (const stub of stubs) stub.received.length = 0;
});

describe('authentication and routing', () => {
  test.each([
    [{}],
    [{ token: 'sst_wrong' }],
    [{ headers: { authorization: 'Bearer nothing' } }],
    [{ method: 'POST', body: '{}' }],
    [{ path: '/v1/sys/unknown' }],
    [{ headers: { 'x-service-namespace': 'nowhere' } }],
  ])('refuses a request without a valid token with 403: %j', async (asked) => {
    expect(await ask(gateway, asked)).toMatchObject(denied);
    expect(received()).toEqual([]);
    const fields = { allowed: false, reason: 'permission denied', accessor: null };
    expect(auditLines()).toMatchObject(ofRequest(fields, { status: 403 }));
  });

  test('forwards a permitted request with its caller, and returns the response', async () => {
    const { status, body, headers } = await ask(gateway, {
      token: reader,
      headers: { 'x-request-id': 'mine-1' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      request_id: 'mine-1',
      data: {
        service: 'secrets',
        method: 'get',
        path: 'kv/data/a',
        caller: { grants: ['read'], policies: ['reader'] },
      },
    });
    expect(headers).toMatchObject({ 'x-request-id': 'mine-1', 'cache-control': 'no-store' });
    const fields = {
      request_id: 'mine-1',
      operation: 'read',
      path: 'kv/data/a',
      allowed: true,
      reason: null,
      remote_address: '127.0.0.1',
    };
    expect(auditLines()).toMatchObject(ofRequest(fields, { status: 200 }));
  });

  test.each([
    ['a response of a service', () => ({ token: reader })],
    ['a refusal of the gateway', () => ({ token: 'wrong' })],
  ])(
    '%s has exactly the content type application/json, with which clients compare it',
    async (_, request) => {
      expect((await ask(gateway, request())).headers['content-type']).toBe('application/json');
    },
  );

  test('forwards a path by the name that was requested, and records the own name too', async () => {
    const path = '/v1/sys/sync/destinations/gh/x';
    expect((await ask(gateway, { path, token: root })).status).toBe(200);
    expect(receivedBy('sync-control')).toMatchObject([{ url: path }]);
    const [asked, own] = ['sys/sync/destinations/gh/x', 'sys/sync/destinations/codehost/x'];
    expect(auditLines()).toMatchObject(ofRequest({ path: asked, resolved_path: own }, { status: 200 }));
  });

  test('accepts the token in Authorization: Bearer', async () => {
    expect(await ask(gateway, { headers: { authorization: `Bearer ${reader}` } })).toMatchObject({
      status: 200,
    });
  });

  test('keeps the token and the other headers of the client to itself (CVE-2026-4525)', async () => {
    const headers = {
      authorization: `Bearer ${reader}`,
      cookie: 'a=b',
      'x-vault-namespace': '',
      'x-own': 'c',
    };
    expect(await ask(gateway, { headers })).toMatchObject({ status: 200 });
    const path = '/v1/auth/cloudB/login';
    await ask(gateway, { method: 'POST', path, body: '{}', headers: { authorization: `Bearer ${reader}` } });
    expect(received().map(({ url }) => url)).toEqual([path, '/v1/kv/data/a']);
    for (const { headers: forwarded } of received()) {
      expect(JSON.stringify(forwarded)).not.toContain(reader);
      expect(Object.keys(forwarded)).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(authorization|cookie|x-own)$/)]),
      );
    }
  });

  test.each(['x-vault-token', 'x-service-token'])('takes an empty %s for none', async (header) => {
    const empty = { [header]: '' };
    const bearer = { ...empty, authorization: `Bearer ${reader}` };
    expect(await ask(gateway, { headers: bearer })).toMatchObject({ status: 200 });
    const both = { 'x-vault-token': reader, 'x-service-token': reader, ...empty };
    expect(await ask(gateway, { headers: both })).toMatchObject({ status: 200 });
    expect(await ask(gateway, { headers: empty })).toMatchObject(denied);
  });

  test('serves a request whose target is in absolute form', async () => {
    const path = '/v1/kv/data/x';
    expect(await ask(gateway, { path: gateway.url + path, token: reader })).toMatchObject({ status: 200 });
    expect(receivedBy('secrets')).toMatchObject([{ url: path }]);
    expect(auditLines()).toMatchObject(ofRequest({ path: 'kv/data/x' }, { status: 200 }));
  });

  test.each([
    ['LIST', '/v1/kv/metadata/x', 'list'],
    ['GET', '/v1/kv/metadata/x?list=true', 'list'],
    ['POST', '/v1/kv/data/x', 'post'],
    ['PUT', '/v1/kv/data/x', 'post'],
    ['PATCH', '/v1/kv/data/x', 'patch'],
    ['DELETE', '/v1/kv/data/x', 'delete'],
  ])('%s %s reaches the service as %s', async (method, path, heard) => {
    const body = ['POST', 'PUT', 'PATCH'].includes(method) ? { body: '{"a":1}', headers: json } : {};
    const answer = await ask(gateway, { method, path, token: root, ...body });
    expect(answer).toMatchObject({ status: 200, body: { data: { method: heard } } });
    if ('body' in body) expect(answer.body.data.body).toEqual({ a: 1 });
  });

  test.each([
    ['/v1/sys/sync/destinations', 'sync-control'],
    ['/v1/sys/sync/config', 'sync-control'],
    ['/v1/sys/auth/cloudB', 'login'],
    ['/v1/auth/token/lookup-self', 'login'],
    ['/v1/sys/policies/acl/x', 'login'],
    ['/v1/sys/namespaces/x', 'login'],
    ['/v1/sys/capabilities-self', 'login'],
    ['/v1/identity/oidc/config', 'login'],
    ['/v1/sys/mounts/kv', 'secrets'],
    ['/v1/sys/internal/ui/mounts/kv', 'secrets'],
    ['/v1/system/data/x', 'secrets'],
    ['/v1/authors/data/x', 'secrets'],
  ])('routes %s to %s', async (path, service) => {
    expect((await ask(gateway, { path, token: root })).body.data.service).toBe(service);
  });

  test('returns 404 for an unknown path, and 405 for an unsupported method', async () => {
    expect(await ask(gateway, { path: '/v1/sys/unknown', token: root })).toMatchObject({ status: 404 });
    expect(await ask(gateway, { path: '/elsewhere', token: root })).toMatchObject({ status: 404 });
    const refused = await ask(gateway, { method: 'OPTIONS', token: root });
    expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, LIST, POST, PUT, PATCH, DELETE']);
  });

  test.each(['scan=true', 'list=true&scan=1', '%73can=True'])(
    'refuses to scan folders: %s',
    async (query) => {
      const refused = await ask(gateway, { path: `/v1/kv/metadata/?${query}`, token: root });
      expect([refused.status, refused.headers.allow]).toEqual([405, 'GET, LIST']);
      expect((await ask(gateway, { path: '/v1/kv/data/a?scan=false', token: root })).status).toBe(200);
    },
  );

  test('requires no token for a login, and for nothing similar', async () => {
    const login = { method: 'POST', path: '/v1/auth/cloudB/login', body: '{}', headers: json };
    const { body } = await ask(gateway, login);
    expect(body.data).toMatchObject({
      service: 'login',
      caller: { accessor: null, policies: [], grants: [] },
    });
    expect(await ask(gateway, { ...login, path: '/v1/auth/cloudB/role/login' })).toMatchObject(denied);
  });
});

describe('headers of the client', () => {
  test('drops internal headers', async () => {
    const forged = {
      'x-caller-assertion': 'forged',
      'x-service-namespace': '',
      cookie: 'a=b',
      'x-other': '1',
    };
    expect(await ask(gateway, { token: reader, headers: forged })).toMatchObject({ status: 200 });
    const [request] = receivedBy('secrets');
    expect(request?.headers['x-caller-assertion']).not.toBe('forged');
    expect(Object.keys(request!.headers).sort()).toEqual(['connection', 'host', 'x-caller-assertion']);
  });

  test('replaces a request id in an invalid format', async () => {
    for (const id of ['a b', 'x'.repeat(129), '', '<script>']) {
      const { headers } = await ask(gateway, { token: reader, headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  test('trusts X-Forwarded-For only from trusted proxies', async () => {
    const { token } = await insertToken(db, { boundCidrs: ['203.0.113.0/24'] });
    const forwarded = { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' };
    expect(await ask(gateway, { token, headers: forwarded })).toMatchObject(denied);
    const behind = await startGateway(
      { db, keys, stubs },
      { settings: { TRUSTED_PROXIES: ['127.0.0.0/8'] } },
    );
    expect(await ask(behind, { token, headers: forwarded })).toMatchObject({ status: 200 });
    expect(
      await ask(behind, { token, headers: { 'x-forwarded-for': '203.0.113.9, 198.51.100.1' } }),
    ).toMatchObject(denied);
    expect(await ask(behind, { token, headers: { 'x-forwarded-for': 'nonsense' } })).toMatchObject(denied);
    await behind.stop();
  });
});

describe('paths are unambiguous', () => {
  test.each([
    '/v1/kv/data/open/../secret/x',
    '/v1/kv/data/open/%2e%2e/secret/x',
    '/v1/kv/data//secret/x',
    '/v1/kv/data/./secret/x',
    '/v1/kv/data/open\\..\\secret',
    '/v1/kv/data/%5c..',
    '/v1/kv/data/x%00',
    '/v1/kv/data/%',
    '/v1//kv/data/x',
    '/v1/',
    '/v1/kv/data/x#frag',
    '/v1/kv/data/a%2F..%2Fsecret%2Fx',
    '/v1/kv/data/x%0d%0aInjected',
  ])('refuses %s', async (path) => {
    expect((await ask(gateway, { path, token: reader })).status).toBe(400);
    expect(received()).toEqual([]);
    expect(auditLines()).toMatchObject(ofRequest({ allowed: false }, { status: 400 }));
  });

  test.each([
    '/v1/kv/data/secret/x',
    '/v1/kv/data/secret%2Fx',
    '/v1/kv/data/%73ecret/x',
    '/v1/kv%2Fdata/secret/x/',
  ])('evaluates %s as the denied path', async (path) =>
    expect(await ask(gateway, { path, token: reader })).toMatchObject(denied),
  );

  test.each([
    ['/v1/kv/data/a%2Fb', 'kv/data/a/b'],
    ['/v1/kv/data/secret%252Fx', 'kv/data/secret%2Fx'],
    ['/v1/kv/data/Secret/x', 'kv/data/Secret/x'],
    ['/v1/kv/data/x/', 'kv/data/x'],
    ['/v1/kv/data/%C3%A9%20%3F%23', 'kv/data/é ?#'],
    ['/v1/kv/data/a+b*', 'kv/data/a+b*'],
    ['/v1/kv/data/secretly', 'kv/data/secretly'],
  ])('forwards %s as the path that was authorized', async (path, authorized) => {
    expect((await ask(gateway, { path, token: reader })).body.data.path).toBe(authorized);
    expect(auditLines()).toMatchObject(ofRequest({ path: authorized }, { status: 200 }));
  });

  test.each([
    'list=true&list=false',
    'list=false&list=true',
    '%6cist=true',
    'list=%74rue',
    'list=True',
    `${'a=1&'.repeat(99)}list=1`,
  ])('handles a list as a list, never as a read: %s', async (query) => {
    expect(await ask(gateway, { path: `/v1/kv/data/x?${query}`, token: reader })).toMatchObject(denied);
    const { body } = await ask(gateway, { path: `/v1/kv/metadata/x?${query}`, token: reader });
    expect(body.data.method).toBe('list');
  });

  test('drops list=false, and passes other parameters', async () => {
    const { body } = await ask(gateway, {
      path: '/v1/kv/data/x?list=false&version=3&a%20b=c',
      token: reader,
    });
    expect(body.data).toMatchObject({ method: 'get', query: { version: '3', 'a b': 'c' } });
    expect(body.data.query.list).toBeUndefined();
  });
});

describe('limits', () => {
  test('a body of 1 MiB is accepted, and one byte more is refused', async () => {
    const body = (bytes: number) => `"${'x'.repeat(bytes - 2)}"`;
    const post = (text: string, headers = {}) =>
      ask(gateway, { method: 'POST', token: root, body: text, headers: { ...json, ...headers } });
    expect((await post(body(1_048_576))).status).toBe(200);
    expect(await post(body(1_048_577))).toMatchObject({
      status: 413,
      body: { errors: ['the body exceeds 1 MiB'] },
    });
    expect((await post(body(1_100_000), { 'transfer-encoding': 'chunked' })).status).toBe(413);
    expect((await post('x', { 'content-encoding': 'gzip' })).status).toBe(415);
    expect((await post('x', { 'content-type': 'application/xml' })).status).toBe(415);
  });

  test('a body that is not sent in time is refused with 408', async () => {
    const hurried = await startGateway({ db, keys, stubs }, { requestTimeoutMs: 500 });
    const socket = connect(Number(new URL(hurried.url).port), '127.0.0.1');
    socket.write(
      `POST /v1/kv/data/a HTTP/1.1\r\nHost: x\r\nX-Service-Token: ${root}\r\nContent-Length: 5\r\n\r\n{`,
    );
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    socket.destroy();
    await hurried.stop();
    expect(received()).toEqual([]);
  });

  test.each([
    ['without a Host', '', '400', 'the Host header is missing'],
    ['with two Hosts', 'Host: x\r\nhOST: x\r\n', '400', 'there are several Host headers'],
    ['with an unknown expectation', 'Host: x\r\nExpect: miracles\r\n', '200', '"service":"secrets"'],
  ])('a request %s gets a complete response', async (_which, headers, status, words) => {
    const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
    socket.write(
      `GET /v1/kv/data/a HTTP/1.1\r\n${headers}X-Service-Token: ${root}\r\nX-Request-Id: mine\r\nConnection: close\r\n\r\n`,
    );
    const answer = await text(socket);
    expect([answer.slice(9, 12), answer]).toEqual([status, expect.stringContaining(words)]);
    expect(answer.toLowerCase()).toContain('x-request-id: mine');
  });

  test('a large response arrives complete', async () => {
    const { body } = await ask(gateway, { path: '/v1/kv/data/a?large=3000000', token: root });
    expect(body.data.large).toHaveLength(3_000_000);
  });

  test('a client that disconnects aborts its request to the service', async () => {
    const { hostname, port } = new URL(gateway.url);
    const headers = { 'x-service-token': root };
    const sent = httpRequest({ hostname, port, path: '/v1/kv/data/a?slow=true', headers }).on(
      'error',
      () => undefined,
    );
    sent.end();
    await eventually(() => received().length > 0);
    const aborted = once(received()[0]!.socket, 'close');
    sent.destroy();
    await aborted;
    await eventually(async () => /status="499"/.test(await gateway.metrics.text()));
  });
});

describe('unavailable dependencies', () => {
  const unused = { login: 'http://127.0.0.1:1', 'sync-control': 'http://127.0.0.1:1' };

  test('a service that is down is named in a response with 503, and logged once', async () => {
    const alone = await startGateway(
      { db, keys, stubs },
      { upstreams: { ...unused, secrets: 'http://127.0.0.1:1' } },
    );
    for (let round = 0; round < 5; round++) {
      const answer = await ask(alone, { token: root });
      expect(answer).toMatchObject({ status: 503, body: { errors: ['secrets is unavailable'] } });
      expect(answer.headers['x-request-id']).toBeDefined();
    }
    expect(alone.logs).toHaveLength(1);
    expect((await ask(alone, { path: '/v1/sys/health' })).body).toMatchObject({
      initialized: true,
      ready: false,
      serving: false,
      missing: ['login', 'secrets', 'sync-control'],
      causes: { login: ['no response'], secrets: ['no response'], 'sync-control': ['no response'] },
    });
    await alone.stop();
  });

  test('the health names what a service lacks, and stays 200 for traffic while secrets are served', async () => {
    const withoutBroker = await startServer(
      (_request, response) => response.writeHead(503).end('{"ready":false,"missing":["broker"]}'),
      { host: '127.0.0.1', port: 0 },
    );
    const urls = Object.fromEntries(stubs.map(({ name, url }) => [name, url]));
    const upstreams = { ...urls, 'sync-control': withoutBroker.url } as Record<OwningService, string>;
    const lame = await startGateway({ db, keys, stubs }, { upstreams });
    const health = await ask(lame, { path: '/v1/sys/health' });
    expect(health).toMatchObject({
      status: 503,
      body: { ready: false, missing: ['sync-control'], causes: { 'sync-control': ['broker'] } },
    });
    const traffic = await ask(lame, { path: '/v1/sys/health?traffic' });
    expect([traffic.status, traffic.body.ready, traffic.body.serving]).toEqual([200, false, true]);
    const query = 'standbyok=true&activecode=204&sealedcode=299';
    expect((await ask(lame, { path: `/v1/sys/health?${query}` })).status).toBe(299);
    expect((await ask(lame, { method: 'HEAD', path: `/v1/sys/health?traffic&${query}` })).status).toBe(204);
    const { status, body } = await ask(lame, { path: '/v1/sys/health?activecode=high' });
    expect([status, body.errors]).toEqual([400, ['activecode must be a whole number']]);
    await lame.stop();
    await withoutBroker.stop(0);
  });

  test('a database without the tables is one that was not initialized', async () => {
    const missingTable = Object.assign(new Error('no such table'), { code: '42P01' });
    const empty: Db = { ...db, query: () => Promise.reject(missingTable) };
    const fresh = await startGateway({ db: empty, keys, stubs });
    const { status, body } = await ask(fresh, { path: '/v1/sys/health' });
    expect([status, body.initialized]).toEqual([501, false]);
    await fresh.stop();
  });

  test('a service that is too slow is a 503', async () => {
    const impatient = await startGateway({ db, keys, stubs }, { upstreamTimeoutMs: 300 });
    expect(await ask(impatient, { path: '/v1/kv/data/a?slow=true', token: root })).toMatchObject({
      status: 503,
    });
    await impatient.stop();
  });

  test('a wait for a version outlasts the limit of other requests, and is a 503 when the gateway stops', async () => {
    const impatient = await startGateway({ db, keys, stubs }, { upstreamTimeoutMs: 300 });
    const path = '/v1/sys/sync/associations/kv/a?wait=60s&slow=true';
    const waiting = ask(impatient, { path, token: root });
    await eventually(() => receivedBy('sync-control').length > 0);
    expect((await ask(impatient, { path: '/v1/kv/data/a?slow=true', token: root })).status).toBe(503);
    const stopped = impatient.stop(30_000);
    const { status, body } = await waiting;
    expect([status, body.errors]).toEqual([503, ['the gateway is stopping; try again']]);
    await stopped;
  });

  test('a database that is down is a 503', async () => {
    const broken: Db = { ...db, query: () => Promise.reject(new Error('down')) };
    const blind = await startGateway({ db: broken, keys, stubs });
    expect(await ask(blind, { token: root })).toMatchObject({ status: 503 });
    expect((await ask(blind, { path: '/v1/sys/health' })).body).toMatchObject({
      initialized: true,
      serving: false,
      missing: ['database'],
    });
    await blind.stop();
  });

  test('an error response of a service is passed on', async () => {
    expect(await ask(gateway, { path: '/v1/kv/data/a?break=true', token: root })).toMatchObject({
      status: 500,
    });
  });
});

describe('own endpoints', () => {
  test('respond to HEAD for health, and for nothing else', async () => {
    const answer = await ask(gateway, { method: 'HEAD', path: '/v1/sys/health' });
    expect([answer.status, answer.body]).toEqual([200, undefined]);
    expect((await ask(gateway, { method: 'HEAD', token: root })).status).toBe(405);
  });

  test('return health without a token and without audit lines', async () => {
    const answer = await ask(gateway, { path: '/v1/sys/health' });
    expect(answer).toMatchObject({ status: 200, body: { initialized: true, ready: true, missing: [] } });
    expect(gateway.audit).toEqual([]);
  });

  test('describe the whole API, and mark what needs no token', async () => {
    const { body } = await ask(gateway, { path: '/v1/sys/internal/specs/openapi' });
    expect(body).toMatchObject({ openapi: '3.1.0', security: [{ serviceToken: [] }, { bearer: [] }] });
    expect(body.components.securitySchemes.serviceToken).toEqual({
      type: 'apiKey',
      in: 'header',
      name: 'X-Service-Token',
    });
    expect(Object.keys(body.paths)).toEqual(expect.arrayContaining(['/v1/{path}', '/v1/sys/health']));
    expect(body.paths['/v1/sys/health'].get.security).toEqual([]);
  });

  test('count requests by operation, service and status', async () => {
    await ask(gateway, { token: reader });
    expect(await gateway.metrics.text()).toMatch(
      /gateway_requests_total\{operation="read",upstream="secrets",status="200",service="gateway"\} \d+/,
    );
  });
});

describe('tokens', () => {
  test('are refused after their last use, after their expiry, and outside their namespace', async () => {
    const { token: twice } = await insertToken(db, { usesLeft: 2 });
    const answers = [];
    for (let use = 0; use < 3; use++) answers.push((await ask(gateway, { token: twice })).status);
    expect(answers).toEqual([200, 200, 403]);
    const { token: ended } = await insertToken(db, { expiresAt: new Date(Date.now() - 1_000) });
    expect(await ask(gateway, { token: ended })).toMatchObject(denied);
    const { token: team } = await insertToken(db, { namespaceId: 'n1' });
    expect(await ask(gateway, { token: team })).toMatchObject(denied);
    const { body } = await ask(gateway, { token: team, headers: { 'x-service-namespace': 'team/' } });
    expect(body.data.caller.namespace).toEqual({ id: 'n1', path: 'team' });
    const config = { token: root, path: '/v1/sys/sync/config', headers: { 'x-service-namespace': 'team' } };
    expect((await ask(gateway, config)).status).toBe(403);
  });

  test('that are revoked end a wait for a version', async () => {
    const { token, accessor } = await insertToken(db);
    const path = '/v1/sys/sync/associations/kv/a?wait=60s&slow=true';
    const waiting = ask(gateway, { path, token });
    await eventually(() => receivedBy('sync-control').length > 0);
    await revokeToken(db, accessor);
    expect(await waiting).toMatchObject(denied);
    expect(auditLines().at(-1)).toMatchObject({ type: 'response', status: 403 });
  });

  test('are refused by every gateway as soon as they are revoked, under load', async () => {
    const second = await startGateway({ db, keys, stubs });
    let running = true;
    const load = [gateway, second].flatMap((target) =>
      Array.from({ length: 4 }, async () => {
        while (running) expect((await ask(target, { token: root })).status).toBe(200);
      }),
    );
    for (let round = 0; round < 10; round++) {
      const { token, accessor } = await insertToken(db);
      expect((await ask(second, { token })).status).toBe(200);
      await revokeToken(db, accessor);
      const after = await Promise.all(
        [gateway, second, second, gateway].map((target) => ask(target, { token })),
      );
      expect(after.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
    }
    running = false;
    await Promise.all(load);
    await second.stop();
  });
});
