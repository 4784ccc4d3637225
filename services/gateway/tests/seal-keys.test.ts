import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { insertToken, writePolicy } from '@secrets/access/testing';
import type { Db } from '@secrets/db';
import { testKeys } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { ask, type Stub, startGateway, startStubs, type TestGateway } from './gateway-for-test.ts';

const keys = testKeys();
const rotate = { method: 'POST', path: '/v1/sys/rotate' };
const status = { path: '/v1/sys/key-status' };
let db: Db;
let stubs: Stub[];
let gateway: TestGateway;
let root: { token: string };

beforeAll(async () => {
  [db, stubs] = await Promise.all([openTestDb(), startStubs(keys)]);
  gateway = await startGateway({ db, keys, stubs });
  root = await insertToken(db, { policies: ['root'] });
  await writePolicy(db, 'without-sudo', { 'sys/rotate': ['update'], 'sys/key-status': ['read'] });
  await writePolicy(db, 'operator', { 'sys/rotate': ['update', 'sudo'], 'sys/key-status': ['read', 'sudo'] });
  await writePolicy(db, 'reader', { 'sys/rotate': ['read', 'sudo'] });
});
afterAll(async () => {
  await gateway?.stop();
  await Promise.all((stubs ?? []).map((stub) => stub.stop()));
  await db?.close();
});

test.each([
  [rotate, 'post', 'sys/internal/seal-keys/rotate'],
  [status, 'get', 'sys/internal/seal-keys'],
])('$path asks every service', async (request, method, path) => {
  const { token } = await insertToken(db, { policies: ['operator'] });
  const { status: code, body } = await ask(gateway, { ...request, token });
  expect(code).toBe(200);
  for (const service of ['login', 'secrets', 'sync-control'])
    expect(body.data.services[service]).toMatchObject({ service, method, path });
  expect(body.data.complete).toBe(false); // as long as one service does not report that it is
});

test.each([
  ['without sudo', 'without-sudo', {}, 403],
  ['with a capability that is not sufficient', 'reader', {}, 403],
  ['in a namespace', 'root', { 'x-service-namespace': 'team' }, 403],
])('sys/rotate is refused %s', async (_case, policy, headers, expected) => {
  await db.query(`insert into login.namespaces (id, path) values ('team', 'team') on conflict do nothing`);
  const { token } = await insertToken(db, { policies: [policy] });
  expect((await ask(gateway, { ...rotate, token, headers })).status).toBe(expected);
});

test('only POST begins a rotation, and only GET reads its state', async () => {
  expect((await ask(gateway, { path: rotate.path, token: root.token })).status).toBe(405);
  expect((await ask(gateway, { ...status, method: 'POST', token: root.token })).status).toBe(405);
});

test('clients cannot reach the internal paths', async () => {
  for (const path of ['/v1/sys/internal/seal-keys', '/v1/sys/internal/seal-keys/rotate'])
    expect((await ask(gateway, { path, token: root.token })).status).toBe(404);
});

test('a token that login has not created is refused like an unknown one, and is logged and counted', async () => {
  const rowKeys = parseKeyRing(`r1:${randomBytes(32).toString('base64')} bound`, 'test');
  const guarded = await startGateway({ db, keys, rowKeys, stubs });
  const { token, accessor } = await insertToken(db);
  const refused = await ask(guarded, { ...status, token });
  expect([refused.status, refused.body.errors]).toEqual([403, ['permission denied']]);
  expect(guarded.logs.filter((line) => line.includes(accessor))).toHaveLength(1);
  expect(await guarded.metrics.text()).toMatch(/^access_rows_rejected_total\S* 1$/m);
  await guarded.stop();
});

test('503 if a service is unavailable', async () => {
  const [login, ...others] = stubs;
  const without = await startGateway({
    db,
    keys,
    stubs: [{ name: login!.name, url: 'http://127.0.0.1:1' }, ...others],
  });
  expect(await ask(without, { ...status, token: root.token })).toMatchObject({
    status: 503,
    body: { errors: ['login is unavailable'] },
  });
  await without.stop();
});
