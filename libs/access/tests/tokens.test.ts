import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { insertToken, revokeToken } from '../src/testing.ts';
import { newToken, newWrappingToken } from '../src/tokens/token.ts';
import { type AccessForTest, allowed, denied, openAccessForTest } from './access-for-test.ts';

let access: AccessForTest;
beforeAll(async () => {
  access = await openAccessForTest();
  await access.policy('reader', 'kv/data/* read');
  await access.policy('reader', 'kv/data/* read', 'n1');
});
afterAll(() => access.db.close());
beforeEach(() => {
  access.now = Date.now();
});

const read = (
  ...[over, authenticator]: [
    { token?: string; remoteAddress?: string },
    ReturnType<AccessForTest['newAuthenticator']>?,
  ]
) => access.verdict('GET kv/data/a', over, authenticator);

test.each(['', 'x', 'sst_', `sst_${'a'.repeat(43)}`, `sbt_${'a'.repeat(200)}`, "sst_'; drop"])(
  'the token %j is refused',
  async (token) => expect(await read({ token })).toBe(denied),
);

test('the caller of a request has what is known of its token', async () => {
  const { token, accessor } = await insertToken(access.db, { policies: ['reader'] });
  expect(await access.decide('GET kv/data/a', { token })).toEqual({
    allowed: true,
    caller: {
      requestId: 'r',
      accessor,
      tokenType: 'service',
      displayName: 'test',
      entityId: null,
      policies: ['reader'],
      identityPolicies: [],
      tokenExpiresAt: null,
      namespace: { id: 'root', path: '' },
      tokenNamespace: { id: 'root', path: '' },
      grants: ['read'],
      remoteAddress: '10.0.0.1',
    },
    path: 'kv/data/a',
  });
});

test('an expired token is refused until it is renewed, by whichever process', async () => {
  const { token, accessor } = await insertToken(access.db, { expiresAt: new Date(access.now + 1000) });
  const authenticator = access.newAuthenticator();
  expect(await read({ token }, authenticator)).toBe(allowed);
  access.now += 1000;
  expect(await read({ token }, authenticator)).toBe(denied);
  await access.db.query('update login.tokens set expires_at = $2::timestamptz where accessor = $1', [
    accessor,
    new Date(access.now + 1000).toISOString(),
  ]);
  expect(await read({ token }, authenticator)).toBe(allowed);
});

describe('bound addresses', () => {
  test.each<[boundCidrs: string[], address: string, verdict: string]>([
    [[], '9.9.9.9', allowed],
    [['10.0.0.0/24'], '10.0.0.7', allowed],
    [['10.0.0.0/24'], '::ffff:10.0.0.7', allowed],
    [['10.0.0.0/24'], '10.0.1.7', denied],
    [['10.0.0.0/24', '2001:db8::/32'], '2001:db8::1', allowed],
    [['not a range'], '10.0.0.7', denied],
  ])('%j: a request from %s is %s', async (boundCidrs, remoteAddress, verdict) => {
    expect(await read({ token: await access.token({ boundCidrs }), remoteAddress })).toBe(verdict);
  });
});

describe('limited uses', () => {
  test.each<[usesLeft: number, requests: string[], verdicts: string[]]>([
    [1, ['GET kv/data/a', 'GET kv/data/a'], [allowed, denied]],
    [1, ['GET sys/internal/ui/mounts/kv', 'GET kv/data/a'], [allowed, allowed]],
    [1, ['GET kv/data/a', 'GET sys/internal/ui/mounts/kv'], [allowed, denied]],
    [2, ['GET kv/metadata/a', 'GET kv/data/a', 'GET kv/data/a'], [denied, allowed, denied]],
  ])('%i: %j is %j', async (usesLeft, requests, verdicts) => {
    const token = await access.token({ policies: ['reader'], usesLeft });
    const results: string[] = [];
    for (const request of requests) results.push(await access.verdict(request, { token }));
    expect(results).toEqual(verdicts);
  });

  test('are counted across processes', async () => {
    const token = await access.token({ usesLeft: 5 });
    const two = [access.newAuthenticator(), access.newAuthenticator()];
    const results = await Promise.all(Array.from({ length: 20 }, (_, n) => read({ token }, two[n % 2])));
    expect(results.filter((result) => result === allowed)).toHaveLength(5);
    expect(await read({ token }, two[0])).toBe(denied);
  });

  test('are not consumed by a request from a wrong address', async () => {
    const token = await access.token({ usesLeft: 1, boundCidrs: ['10.0.0.0/24'] });
    expect(await read({ token, remoteAddress: '9.9.9.9' })).toBe(denied);
    expect(await read({ token })).toBe(allowed);
  });

  test('are not consumed when an open stream is reviewed, and no limit applies', async () => {
    const token = await access.token({ usesLeft: 1 });
    const limits = { perToken: 1, perLoginAddress: 0, perNamespace: 1 };
    const authenticator = access.newAuthenticator(limits);
    const request = { token, namespace: undefined, operation: 'read', path: 'kv/data/a' } as const;
    const review = () => authenticator.review({ ...request, remoteAddress: '10.0.0.1', requestId: 'r' });
    for (let round = 0; round < 3; round += 1)
      expect(await review()).toMatchObject({ allowed: true, caller: { policies: ['root'] } });
    expect(await read({ token }, authenticator)).toBe(allowed);
    expect(await review()).toMatchObject({ allowed: true });
    await access.db.query('update login.tokens set expires_at = to_timestamp(0) where uses_left = 0');
    expect(
      await access.newAuthenticator().review({ ...request, remoteAddress: '', requestId: 'r' }),
    ).toMatchObject({ allowed: false, problem: { kind: 'forbidden' } });
  });
});

describe('batch tokens', () => {
  test('are valid until they expire', async () => {
    const token = access.batchToken();
    const authenticator = access.newAuthenticator();
    expect(await read({ token }, authenticator)).toBe(allowed);
    expect(await access.verdict('GET kv/metadata/a', { token }, authenticator)).toBe(denied);
    access.now += 60_000;
    expect(await read({ token }, authenticator)).toBe(denied);
  });

  test('are revoked with their parent', async () => {
    const { accessor } = await insertToken(access.db);
    const token = access.batchToken({ parent_accessor: accessor });
    const authenticator = access.newAuthenticator();
    expect(await read({ token }, authenticator)).toBe(allowed);
    await revokeToken(access.db, accessor);
    expect(await read({ token }, authenticator)).toBe(denied);
  });

  test('are bound to their addresses and their namespace', async () => {
    expect(await read({ token: access.batchToken({ bound_cidrs: ['11.0.0.0/8'] }) })).toBe(denied);
    expect(await read({ token: access.batchToken({ namespace_id: 'gone' }) })).toBe(denied);
    const token = access.batchToken({ namespace_id: 'n1' });
    expect(await access.verdict('GET kv/data/a', { token, namespace: 'team' })).toBe(allowed);
    expect(await read({ token })).toBe(denied);
  });
});

describe('wrapping tokens are sufficient only where they are exchanged', () => {
  test.each([
    ['POST sys/wrapping/lookup', undefined, allowed],
    ['POST sys/wrapping/rewrap', undefined, allowed],
    ['POST sys/wrapping/unwrap', undefined, allowed],
    ['POST sys/wrapping/unwrap', 'team', allowed],
    ['POST sys/wrapping/unwrap', 'nowhere', allowed],
    ['POST sys/wrapping/wrap', undefined, denied],
    ['POST sys/wrapping/unwrap/x', undefined, denied],
    ['POST auth/token/lookup-self', undefined, denied],
    ['POST kv/data/a', undefined, denied],
  ])('%s in %s is %s', async (request, namespace, verdict) => {
    expect(await access.verdict(request, { token: newWrappingToken().reveal(), namespace })).toBe(verdict);
  });

  test('without a caller', async () => {
    const token = newWrappingToken().reveal();
    const { caller } = await access.decide('GET sys/wrapping/unwrap', { token });
    expect(caller).toMatchObject({ accessor: null, tokenType: null, policies: [], grants: [] });
  });

  test('other tokens need their policies there', async () => {
    expect(await access.verdict('POST sys/wrapping/unwrap', { token: newToken().reveal() })).toBe(denied);
    const token = await access.tokenWith('sys/wrapping/unwrap update');
    expect(await access.verdict('POST sys/wrapping/unwrap', { token })).toBe(allowed);
  });
});
