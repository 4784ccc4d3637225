import { randomBytes } from 'node:crypto';
import { afterEach, expect, jest, test } from '@jest/globals';
import { serviceCaller, signAssertion, verifyAssertion } from './assertion.ts';
import { deriveInternalKeys, parseInternalKeys } from './internal-keys.ts';

const installation = randomBytes(32);
const keys = parseInternalKeys(installation.toString('base64'), 'test');
const request = { from: 'gateway', to: 'secrets', method: 'GET', path: '/v1/kv/data/a' };
const caller = serviceCaller('gateway', 'r-1');

afterEach(() => {
  jest.useRealTimers();
});

test('returns the caller that was signed', () => {
  expect(verifyAssertion(keys, signAssertion(keys, request, caller), request)).toEqual(caller);
});

test.each([
  ['another path', { ...request, path: '/v1/kv/data/b' }],
  ['another method', { ...request, method: 'DELETE' }],
  ['another service', { ...request, to: 'login' }],
  ['another sender', { ...request, from: 'sync-control' }],
])('refuses an assertion for %s', (_what, other) => {
  expect(() => verifyAssertion(keys, signAssertion(keys, request, caller), other)).toThrow(
    /missing or invalid/,
  );
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

test("signs and verifies only in the directions of the service's own key file", () => {
  const own = parseInternalKeys(deriveInternalKeys(installation, [['gateway', 'secrets']]), 'own');
  expect(verifyAssertion(own, signAssertion(keys, request, caller), request)).toEqual(caller);
  expect(() => signAssertion(own, { ...request, to: 'login' }, caller)).toThrow(
    /contains no key for gateway>login/,
  );
});
