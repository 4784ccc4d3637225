import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AccessRequest } from '../src/authenticator.ts';
import { type BuiltInLimits, noLimits } from '../src/rate-limits/rate-limits.ts';
import { type AccessForTest, openAccessForTest } from './access-for-test.ts';

let access: AccessForTest;
let [one, other] = ['', ''];
beforeAll(async () => {
  access = await openAccessForTest();
  access.now = Math.ceil(Date.now() / 1_000) * 1_000;
  const quotas = [
    ['address', 'n1', 'kv', 4, 'ip'],
    ['all', 'n3', '', 4, 'none'],
  ];
  for (const [name, namespace, path, rate, groupBy] of quotas)
    await access.db.query(
      `insert into login.rate_limit_quotas (name, namespace_id, path, written_path, rate, interval_seconds, block_seconds, inheritable, group_by)
       values ($1, $2, $3, $3, $4, 60, 0, false, $5)`,
      [name, namespace, path, rate, groupBy],
    );
});
afterAll(() => access.db.close());
beforeEach(async () => {
  access.now += 60_000;
  [one, other] = [await access.token(), await access.token()];
});

/** Returns a function that sends ten requests at once, and returns how many have which outcome. */
function gatewayWith(limits: Partial<BuiltInLimits> = {}) {
  const authenticator = access.newAuthenticator({ ...noLimits, ...limits });
  return async (request: string, over: Partial<AccessRequest> = {}) => {
    const decisions = await Promise.all(
      Array.from({ length: 10 }, () => access.decide(request, over, authenticator)),
    );
    const counts: Record<string, number> = {};
    for (const decision of decisions) {
      const outcome = decision.allowed ? 'allowed' : decision.problem.kind;
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  };
}
const [none, four, ten] = [{ rate_limited: 10 }, { allowed: 4, rate_limited: 6 }, { allowed: 10 }];

test('the limit of tokens is of each token, in all namespaces', async () => {
  const send = gatewayWith({ perToken: 4 });
  expect(await send('GET kv/data/a', { token: one })).toEqual(four);
  expect(await send('GET kv/data/a', { token: one, namespace: 'team' })).toEqual(none);
  expect(await send('GET kv/data/a', { token: other })).toEqual(four);
  access.now += 1_000;
  expect(await send('GET kv/data/a', { token: one })).toEqual(four);
});

test('a request that exceeds a limit consumes no use of its token', async () => {
  const send = gatewayWith({ perToken: 4 });
  const token = await access.token({ usesLeft: 6 });
  expect(await send('GET kv/data/a', { token })).toEqual(four);
  access.now += 1_000;
  expect(await send('GET kv/data/a', { token })).toEqual({ allowed: 2, forbidden: 2, rate_limited: 6 });
});

test('the limit of logins is of each address, and of nothing but what looks for something secret without a token', async () => {
  const send = gatewayWith({ perLoginAddress: 4 });
  expect(await send('POST auth/cloudB/login')).toEqual(four);
  expect(await send('POST team/auth/cloudB/login')).toEqual(none);
  expect(await send('POST sys/wrapping/lookup')).toEqual(none);
  expect(await send('POST auth/cloudB/login', { remoteAddress: '10.0.0.2' })).toEqual(four);
  expect(await send('POST sys/wrapping/lookup', { remoteAddress: '10.0.0.3' })).toEqual(four);
  const token = `swt_${'a'.repeat(43)}`;
  expect(await send('POST sys/wrapping/unwrap', { token, remoteAddress: '10.0.0.4' })).toEqual(four);
  expect(await send('GET kv/data/a', { token: one })).toEqual(ten);
  expect(await send('GET sys/internal/specs/openapi')).toEqual(ten);
});

test('the limit of namespaces is of all tokens in each, and strangers do not use it up', async () => {
  const send = gatewayWith({ perNamespace: 4 });
  expect(await send('GET kv/data/a', { token: `sst_${'x'.repeat(43)}` })).toEqual({ forbidden: 10 });
  expect(await send('POST auth/cloudB/login')).toEqual(ten);
  expect(await send('GET kv/data/a', { token: one })).toEqual(four);
  expect(await send('GET kv/data/a', { token: other })).toEqual(none);
  expect(await send('GET kv/data/a', { token: other, namespace: 'team' })).toEqual(four);
});

describe('a quota of a namespace applies', () => {
  test.each([
    ['GET kv/data/a', 'team', four],
    ['GET team/kv/data/a', undefined, four],
    ['GET team/other/data/a', undefined, ten],
    ['GET kv/data/a', undefined, ten],
    ['GET kv/data/a', 'other', four],
    ['GET other/kv/data/a', undefined, four],
  ])('%s in %s: %j', async (request, namespace, outcome) => {
    expect(await gatewayWith()(request, { token: one, namespace })).toEqual(outcome);
  });

  test('to each address by itself, or to all requests together that are allowed', async () => {
    const send = gatewayWith();
    const from = (remoteAddress: string, namespace: string) =>
      send('GET kv/data/a', { token: one, namespace, remoteAddress });
    expect([await from('10.0.0.1', 'team'), await from('10.0.0.2', 'team')]).toEqual([four, four]);
    expect(await send('GET kv/data/a', { namespace: 'other' })).toEqual({ forbidden: 10 });
    expect([await from('10.0.0.1', 'other'), await from('10.0.0.2', 'other')]).toEqual([four, none]);
  });

  test('to a stranger before anything is read, if it is of each address', async () => {
    expect(await gatewayWith()('GET kv/data/a', { namespace: 'team' })).toEqual({
      forbidden: 4,
      rate_limited: 6,
    });
  });
});
