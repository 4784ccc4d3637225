import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { insertToken, revokeToken } from '../src/testing.ts';
import { newToken } from '../src/tokens/token.ts';
import { type AccessForTest, allowed, denied, openAccessForTest } from './access-for-test.ts';

let access: AccessForTest;
beforeAll(async () => {
  access = await openAccessForTest();
  await access.policy('reader', 'kv/data/* read');
  await access.policy('writer', 'kv/data/* create');
});
afterAll(() => access.db.close());
beforeEach(() => {
  access.statements = [];
});

const read = (token: string, authenticator = access.newAuthenticator()) =>
  access.verdict('GET kv/data/a', { token }, authenticator);
const reads = () => [access.count('t.hash = $1'), access.count('from login.policies')];

test('a token with limited uses and its policies are read once, however often it is used', async () => {
  const token = await access.token({ policies: ['reader'], usesLeft: 5 });
  const authenticator = access.newAuthenticator();
  for (let use = 0; use < 5; use += 1) expect(await read(token, authenticator)).toBe(allowed);
  expect(await read(token, authenticator)).toBe(denied);
  expect(reads()).toEqual([1, 1]);
});

test('tokens and policies stay in memory while others are revoked and written', async () => {
  const token = await access.token({ policies: ['reader'] });
  const authenticator = access.newAuthenticator();
  expect(await read(token, authenticator)).toBe(allowed);
  for (let round = 0; round < 5; round += 1) {
    await revokeToken(access.db, (await insertToken(access.db)).accessor);
    await access.policy('unrelated', `kv/data/${round} read`);
    expect(await read(token, authenticator)).toBe(allowed);
  }
  expect(reads()).toEqual([1, 1]);
});

test('an unknown token takes one statement and is not cached', async () => {
  const authenticator = access.newAuthenticator();
  const token = newToken().reveal();
  await read(token, authenticator);
  await read(token, authenticator);
  expect(access.statements.length - access.count('from login.rate_limit_quotas')).toBe(2);
});

test('policies are read and compiled once for all tokens that have the same', async () => {
  const authenticator = access.newAuthenticator();
  for (const policies of [
    ['reader', 'writer'],
    ['writer', 'reader'],
    ['reader', 'writer', 'reader'],
  ])
    expect(await read(await access.token({ policies }), authenticator)).toBe(allowed);
  expect(access.count('from login.policies')).toBe(1);
});

test('concurrent requests share the reads of the epoch and of their token', async () => {
  const token = await access.token();
  const authenticator = access.newAuthenticator();
  const burst = () => Promise.all(Array.from({ length: 500 }, () => read(token, authenticator)));
  await burst();
  await burst();
  expect(access.count('t.hash = $1')).toBe(1);
  expect(access.count('login.access_changes')).toBeLessThanOrEqual(4);
});

test('a revocation applies to every later request on every gateway, under load and among other revocations', async () => {
  const { db } = access;
  const gateways = Array.from({ length: 3 }, () => access.newAuthenticator());
  const others = await Promise.all(Array.from({ length: 3 }, () => access.token()));
  let running = true;
  const load = gateways.flatMap((gateway) =>
    others.map(async (token) => {
      while (running) expect(await read(token, gateway)).toBe(allowed);
    }),
  );
  const storm = async () => {
    while (running) await revokeToken(db, (await insertToken(db)).accessor);
  };
  const storms = [storm(), storm()];
  for (let round = 0; round < 8; round++) {
    const { token, accessor } = await insertToken(db);
    const early = gateways.flatMap((gateway) => Array.from({ length: 4 }, () => read(token, gateway)));
    await Promise.all(early.slice(0, 3));
    const revoked = revokeToken(db, accessor);
    const during = gateways.map((gateway) => read(token, gateway)); // either result is correct
    await revoked;
    const after = gateways.flatMap((gateway) => Array.from({ length: 4 }, () => read(token, gateway)));
    expect(new Set(await Promise.all(after))).toEqual(new Set([denied]));
    await Promise.all([...early, ...during]);
  }
  running = false;
  await Promise.all([...load, ...storms]);
});
