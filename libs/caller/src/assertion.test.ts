import { createHash, createHmac, randomBytes } from 'node:crypto';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { requireSignedBody, serviceCaller, signAssertion, verifyAssertion } from './assertion.ts';
import { deriveInternalKeys, parseInternalKeys } from './internal-keys.ts';

const installation = randomBytes(32);
const keys = parseInternalKeys(installation.toString('base64'), 'test');
const request = { from: 'gateway', to: 'secrets', method: 'GET', path: '/v1/kv/data/a', query: '?version=1' };
const caller = serviceCaller('gateway', 'r-1');

afterEach(() => {
  jest.useRealTimers();
});

test('returns the caller that was signed', () => {
  expect(verifyAssertion(keys, signAssertion(keys, request, caller), request)).toMatchObject({ caller });
});

test.each([
  ['another path', { ...request, path: '/v1/kv/data/b' }],
  ['another method', { ...request, method: 'DELETE' }],
  ['another service', { ...request, to: 'login' }],
  ['another sender', { ...request, from: 'sync-control' }],
  ['another query', { ...request, query: '?version=2' }],
  ['a query that was removed', { ...request, query: '' }],
])('refuses an assertion for %s', (_what, other) => {
  expect(() => verifyAssertion(keys, signAssertion(keys, request, caller), other)).toThrow(
    /missing or invalid/,
  );
});

test('refuses a query that was added', () => {
  const signed = signAssertion(keys, { ...request, query: '' }, caller);
  expect(() => verifyAssertion(keys, signed, request)).toThrow(/missing or invalid/);
  expect(verifyAssertion(keys, signed, { ...request, query: undefined })).toMatchObject({ caller });
});

describe('the body', () => {
  const verified = (body?: string | Uint8Array) =>
    verifyAssertion(keys, signAssertion(keys, { ...request, body }, caller), request);

  test('must be the one that was signed', () => {
    const original = verified('{"a":1}');
    expect(() => requireSignedBody(original, Buffer.from('{"a":1}'))).not.toThrow();
    for (const other of ['{"a":2}', '{"a":1} ', '', undefined])
      expect(() => requireSignedBody(original, other)).toThrow(/missing or invalid/);
  });

  test('may be missing or empty if none was signed, and nothing else', () => {
    for (const none of [undefined, '', Buffer.alloc(0)]) {
      for (const received of [undefined, '', Buffer.alloc(0)])
        expect(() => requireSignedBody(verified(none), received)).not.toThrow();
      expect(() => requireSignedBody(verified(none), '{}')).toThrow(/missing or invalid/);
    }
  });
});

test.each([undefined, '', 'a.b', 'a.b.c', `${'x'.repeat(5000)}`])(
  'refuses %j, which is no assertion',
  (assertion) => {
    expect(() => verifyAssertion(keys, assertion, request)).toThrow(/missing or invalid/);
  },
);

test('refuses a modified payload', () => {
  const [head, , signature] = signAssertion(keys, request, caller).split('.');
  const body = Buffer.from(JSON.stringify({ ...request, exp: 9e9, caller })).toString('base64url');
  expect(() => verifyAssertion(keys, `${head}.${body}.${signature}`, request)).toThrow(/missing or invalid/);
});

test('refuses an assertion that is older than 30 seconds plus leeway', () => {
  const assertion = signAssertion(keys, request, caller);
  jest.useFakeTimers({ now: Date.now() + 36_000 });
  expect(() => verifyAssertion(keys, assertion, request)).toThrow(/missing or invalid/);
});

test.each([
  ['ahead', 3_600_000],
  ['behind', -3_600_000],
])('signs and verifies by the clock that services share, although its own is an hour %s', (_which, ms) => {
  const shared = () => parseInternalKeys(installation.toString('base64'), 'test', { now: () => at });
  const at = Date.now();
  const assertion = signAssertion(shared(), request, caller);
  jest.useFakeTimers({ now: at + ms });
  expect(verifyAssertion(shared(), assertion, request)).toMatchObject({ caller });
  expect(verifyAssertion(shared(), signAssertion(shared(), request, caller), request)).toMatchObject({
    caller,
  });
});

test("signs and verifies only in the directions of the service's own key file", () => {
  const own = parseInternalKeys(deriveInternalKeys(installation, [['gateway', 'secrets']]), 'own');
  expect(verifyAssertion(own, signAssertion(keys, request, caller), request)).toMatchObject({ caller });
  expect(() => signAssertion(own, { ...request, to: 'login' }, caller)).toThrow(
    /contains no key for gateway>login/,
  );
});

test('reads what 0.2 sends: instances of both versions run side by side during an upgrade', () => {
  const payload = {
    iss: 'gateway',
    aud: 'secrets',
    exp: Math.floor(Date.now() / 1_000) + 30,
    req: 'GET /v1/kv/data/a',
    query: createHash('sha256').update('?version=1').digest('base64url'),
    caller,
  };
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = (claims: object) => {
    const text = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`;
    const key = keys.keyFor('gateway', 'secrets');
    return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
  };
  expect(verifyAssertion(keys, signed(payload), request)).toMatchObject({ caller });
  const newer = { ...payload, later: 1, caller: { ...caller, later: 1 } };
  expect(verifyAssertion(keys, signed(newer), request)).toMatchObject({ caller });
});

test('sends what 0.2 reads', () => {
  const [, payload] = signAssertion(keys, { ...request, body: '{}' }, caller).split('.');
  expect(Object.keys(JSON.parse(Buffer.from(payload!, 'base64url').toString()))).toEqual(
    expect.arrayContaining(['iss', 'aud', 'exp', 'req', 'query', 'body', 'caller']),
  );
});
