import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { parseKeyRing } from '@secrets/seal';
import { clientHash, signInOf, stateOf } from './sign-in-state.ts';

const keyRing = parseKeyRing(randomBytes(32).toString('base64'), 'test');
const signIn = {
  role: 'people',
  redirectUri: 'https://secrets.example/',
  provider: 'p',
  nonce: 'n',
  codeVerifier: 'v',
  client: clientHash('a nonce of the client'),
  expiresAtMs: 1_000,
};
const state = stateOf(keyRing, 'mount', signIn);
const usual = { state, clientNonce: 'a nonce of the client', nowMs: 999 };

test('a state is opened for its mount and its client, until it expires', () => {
  expect(signInOf(keyRing, 'mount', usual)).toEqual(signIn);
});

test('a state does not show what it has', () => {
  expect(Buffer.from(state, 'base64url').toString('latin1')).not.toContain('people');
});

test.each([
  ['another mount', 'other', {}, /^state: was not issued/],
  [
    'another installation',
    'mount',
    { keyRing: parseKeyRing(randomBytes(32).toString('base64'), 'test') },
    /^state: was not/,
  ],
  ['another client', 'mount', { clientNonce: 'another nonce of a client' }, /^client_nonce: another client/],
  ['no client', 'mount', { clientNonce: '' }, /^client_nonce: another client/],
  ['its expiry', 'mount', { nowMs: 1_000 }, /^state: the sign-in took longer than five minutes/],
  ['something else', 'mount', { state: 'x' }, /^state: was not issued/],
])('a state is refused for %s', (_name, mount, more, reason) => {
  const { keyRing: keys = keyRing, ...request } = { ...usual, ...more } as typeof usual & {
    keyRing?: typeof keyRing;
  };
  expect(() => signInOf(keys, mount, request)).toThrow(reason);
});
