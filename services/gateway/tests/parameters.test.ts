import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { insertToken, writePolicy } from '@secrets/access/testing';
import { parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { ask, type Stub, startGateway, startStubs, type TestGateway } from './gateway-for-test.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
const denied = { status: 403, body: { errors: ['permission denied'] } };
const path = '/v1/auth/token/create';
let db: Db;
let stubs: Stub[];
let gateway: TestGateway;
let token: string;

const forwarded = () => stubs.flatMap((stub) => stub.received).filter(({ url }) => url?.startsWith('/v1/'));
const write = (body: string, more: Partial<Parameters<typeof ask>[1]> = {}) =>
  ask(gateway, {
    method: 'POST',
    path,
    token,
    headers: { 'content-type': 'application/json' },
    body,
    ...more,
  });

beforeAll(async () => {
  db = await openTestDb();
  await writePolicy(db, 'limited', {
    'auth/token/create': {
      capabilities: ['create', 'update', 'patch', 'read', 'delete'],
      allowed_parameters: { policies: ['team-*'], ttl: [] },
      required_parameters: ['policies'],
    },
  });
  stubs = await startStubs(keys);
  gateway = await startGateway({ db, keys, stubs });
  token = (await insertToken(db, { policies: ['limited'] })).token;
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all(stubs.map((stub) => stub.stop()));
  await db.close();
});
beforeEach(() => {
  for (const stub of stubs) stub.received.length = 0;
});

test('a write with permitted parameters is forwarded unchanged', async () => {
  for (const method of ['POST', 'PUT', 'PATCH']) {
    const { status, body } = await write('{"policies":"team-a","ttl":"1h"}', { method });
    expect([status, body.data.body]).toEqual([200, { policies: 'team-a', ttl: '1h' }]);
  }
});

test('a write with other parameters is refused, and reaches no service', async () => {
  for (const method of ['POST', 'PUT', 'PATCH']) {
    expect(await write('{"policies":"team-a,admin"}', { method })).toMatchObject(denied);
    expect(await write('{"policies":"team-a","no_parent":true}', { method })).toMatchObject(denied);
    expect(await write('{"ttl":"1h"}', { method })).toMatchObject(denied);
    expect(await write('{"policies":"team-a"}', { method, path: `${path}?no_parent=true` })).toMatchObject(
      denied,
    );
  }
  expect(await write('', { headers: {} })).toMatchObject(denied);
  expect(forwarded()).toEqual([]);
});

test('whichever content type it has', async () => {
  for (const type of ['application/merge-patch+json', 'application/x-www-form-urlencoded', 'text/plain']) {
    const headers = { 'content-type': type };
    expect(await write('{"policies":"admin"}', { headers })).toMatchObject(denied);
  }
  expect((await write('policies=admin', { headers: {} })).status).toBe(400);
  expect(forwarded()).toEqual([]);
});

test('whichever way its body is sent', async () => {
  const headers = { 'transfer-encoding': 'chunked' };
  expect(await write('{"policies":"admin"}', { headers })).toMatchObject(denied);
  expect((await write('{"policies":"team-a"}', { headers })).status).toBe(200);
});

test('the parameters of a read are its query', async () => {
  expect((await ask(gateway, { path: `${path}?policies=team-a`, token })).status).toBe(200);
  expect(await ask(gateway, { path: `${path}?policies=admin`, token })).toMatchObject(denied);
  expect(await ask(gateway, { path: `${path}?policies=team-a&policies=admin`, token })).toMatchObject(denied);
  expect(await ask(gateway, { path, token })).toMatchObject(denied);
});

test('deletions are not restricted by parameters', async () => {
  const body = '{"policies":"admin"}';
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  expect((await write(body, { method: 'DELETE', headers })).status).toBe(200);
});

test('the root policy is not restricted', async () => {
  const { token: root } = await insertToken(db);
  expect((await write('{"policies":"admin"}', { token: root })).status).toBe(200);
});
