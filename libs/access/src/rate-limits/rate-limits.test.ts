import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { parseInternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { type AccessRequest, createAuthenticator } from '../authenticator.ts';
import { insertToken } from '../testing.ts';
import { type BuiltInLimits, noLimits } from './rate-limits.ts';

const keys = parseInternalKeys(randomBytes(32).toString('base64'), 'test');
let db: Db;
let now = Math.ceil(Date.now() / 1_000) * 1_000;

beforeAll(async () => {
  db = await openTestDb();
  await db.query(
    "insert into login.auth_mounts (namespace_id, path, type, accessor) values ('root', 'cloudB', 'cloudB', 'a1')",
  );
  await db.query("insert into login.namespaces (id, path) values ('n1', 'team')");
});
afterAll(() => db.close());
beforeEach(() => {
  now += 60_000;
});

/** Returns a function that sends ten requests at once, and returns the outcomes: `allowed`, or the kind of problem. */
function gatewayWith(limits: Partial<BuiltInLimits>) {
  const authenticator = createAuthenticator({
    ...{ db, keys, limits: { ...noLimits, ...limits }, clock: () => now },
  });
  return async (over: Partial<AccessRequest>) => {
    const request: AccessRequest = {
      ...{ token: undefined, namespace: undefined, operation: 'read', path: 'kv/data/a' },
      ...{ remoteAddress: '10.0.0.1', requestId: 'r', ...over },
    };
    const decisions = await Promise.all(
      Array.from({ length: 10 }, () => authenticator.authenticate(request)),
    );
    return decisions.map((decision) => (decision.allowed ? 'allowed' : decision.problem.kind)).sort();
  };
}
const outcomes = (allowed: number, otherwise = 'rate_limited') => [
  ...Array<string>(allowed).fill('allowed'),
  ...Array<string>(10 - allowed).fill(otherwise),
];

test('the limit of tokens concerns each token', async () => {
  const send = gatewayWith({ perToken: 4 });
  const { token } = await insertToken(db);
  expect(await send({ token })).toEqual(outcomes(4));
  expect(await send({ token, namespace: 'team' })).toEqual(outcomes(0));
  expect(await send({ token: (await insertToken(db)).token })).toEqual(outcomes(4));
  now += 1_000;
  expect(await send({ token })).toEqual(outcomes(4));
});

test('a refused request consumes no use of a token', async () => {
  const send = gatewayWith({ perToken: 4 });
  const { token } = await insertToken(db, { usesLeft: 6 });
  expect(await send({ token })).toEqual(outcomes(4));
  now += 1_000;
  expect(await send({ token })).toEqual([
    ...outcomes(2, 'forbidden').slice(0, 4),
    ...Array<string>(6).fill('rate_limited'),
  ]);
});

test('the limit of logins concerns each address, and nothing but logins', async () => {
  const send = gatewayWith({ perLoginAddress: 4 });
  const login = { operation: 'create-or-update', path: 'auth/cloudB/login' } as const;
  expect(await send(login)).toEqual(outcomes(4));
  expect(await send({ ...login, remoteAddress: '10.0.0.2' })).toEqual(outcomes(4));
  expect(await send({ token: (await insertToken(db)).token })).toEqual(outcomes(10));
  expect(await send({ operation: 'read', path: 'sys/internal/specs/openapi' })).toEqual(outcomes(10));
});

test('the limit of namespaces concerns all tokens in each, and strangers do not use it up', async () => {
  const send = gatewayWith({ perNamespace: 4 });
  expect(await send({ token: `sst_${'x'.repeat(43)}` })).toEqual(outcomes(0, 'forbidden'));
  expect(await send({ operation: 'create-or-update', path: 'auth/cloudB/login' })).toEqual(outcomes(10));
  expect(await send({ token: (await insertToken(db)).token })).toEqual(outcomes(4));
  expect(await send({ token: (await insertToken(db)).token })).toEqual(outcomes(0));
  expect(await send({ token: (await insertToken(db)).token, namespace: 'team' })).toEqual(outcomes(4));
});
