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

test('the caller comes through', () => {
  expect(verifyAssertion(keys, signAssertion(keys, request, caller), request)).toEqual(caller);
});

test.each([
  ['another path', { ...request, path: '/v1/kv/data/b' }],
  ['another method', { ...request, method: 'DELETE' }],
  ['another service', { ...request, to: 'login' }],
  ['another sender', { ...request, from: 'sync-control' }],
])('is refused for %s', (_what, other) => {
  expect(() => verifyAssertion(keys, signAssertion(keys, request, caller), other)).toThrow(/not valid/);
});

test.each([undefined, '', 'a.b', 'a.b.c', `${'x'.repeat(5000)}`])('garbage is refused: %j', (assertion) => {
  expect(() => verifyAssertion(keys, assertion, request)).toThrow(/not valid/);
});

test('a changed payload is refused', () => {
  const [head, , signature] = signAssertion(keys, request, caller).split('.');
  const body = Buffer.from(JSON.stringify({ ...request, exp: 9e9, caller })).toString('base64url');
  expect(() => verifyAssertion(keys, `${head}.${body}.${signature}`, request)).toThrow(/not valid/);
});

test('ends after half a minute', () => {
  const assertion = signAssertion(keys, request, caller);
  jest.useFakeTimers({ now: Date.now() + 36_000 });
  expect(() => verifyAssertion(keys, assertion, request)).toThrow(/not valid/);
});

test("a service's own key file speaks and hears only in its directions", () => {
  const own = parseInternalKeys(deriveInternalKeys(installation, [['gateway', 'secrets']]), 'own');
  expect(verifyAssertion(own, signAssertion(keys, request, caller), request)).toEqual(caller);
  expect(() => signAssertion(own, { ...request, to: 'login' }, caller)).toThrow(
    /holds no key for gateway>login/,
  );
});
