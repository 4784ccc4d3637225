import { expect, test } from '@jest/globals';
import { warnOfExposure } from './exposure.ts';

const closed = {
  HOST: '127.0.0.1',
  SANDBOX: true,
  SANDBOX_HOST: '127.0.0.1',
  TLS_CERT_FILE: undefined,
  TLS_KEY_FILE: undefined,
  INSECURE: false,
};
const tls = { TLS_CERT_FILE: 'c', TLS_KEY_FILE: 'k' };

/** Returns the warnings; fails the test if the environment is refused. */
function warnings(env: object): string[] {
  const sentences: string[] = [];
  const warn = (_fields: unknown, sentence: string) => void sentences.push(sentence);
  warnOfExposure({ ...closed, ...env }, { warn } as never);
  return sentences;
}

test.each([
  ['plain HTTP with the sandbox', { HOST: '0.0.0.0' }],
  ['plain HTTP with the sandbox, on IPv6', { HOST: '::' }],
  ['the sandbox itself', { ...tls, HOST: '0.0.0.0', SANDBOX_HOST: '10.0.0.7' }],
])('refuses to expose %s, unless INSECURE is set, and then warns', (_case, env) => {
  expect(() => warnings(env)).toThrow(/INSECURE=1/);
  expect(warnings({ ...env, INSECURE: true })).toEqual([
    expect.stringMatching(/^INSECURE: (SANDBOX_)?HOST=/),
  ]);
});

test.each([
  ['loopback', { HOST: 'localhost', SANDBOX_HOST: '127.0.0.2' }],
  ['TLS', { ...tls, HOST: '0.0.0.0' }],
])('says nothing about %s', (_case, env) => {
  expect(warnings(env)).toEqual([]);
});

test('warns of plain HTTP without the sandbox, which may be behind a proxy', () => {
  expect(warnings({ HOST: '0.0.0.0', SANDBOX: false })).toHaveLength(1);
});
