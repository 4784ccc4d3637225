import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { JWK } from 'jose';

/** The documents of a directory that answers as it should. */
interface UsualDocuments {
  discovery: Record<string, unknown>;
  key: JWK;
}

/** Documents with which nothing must verify, and none of which may crash who reads them. */
export interface HostileDocuments {
  title: string;
  /** Replaces the discovery document or the key set: a text, a value or an answer. */
  documents: (usual: UsualDocuments) => { discovery?: unknown; keys?: unknown };
  /** Only jwt refuses it; cloudB reads documents of hosts that no user can choose. */
  ofChosenHosts?: true;
}

const answer =
  (status: number, headers: Record<string, string> = {}, body: string | Buffer = '') =>
  (_request: unknown, response: ServerResponse) =>
    response.writeHead(status, headers).end(body);
const reset = (_request: unknown, response: ServerResponse) => response.destroy();
const cutOff = (_request: unknown, response: ServerResponse) => {
  response.writeHead(200, { 'content-length': '1000' }).write('{"issuer":');
  setTimeout(() => response.destroy(), 10);
};
const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
const huge = JSON.stringify({ x: 'a'.repeat(2 * 2 ** 20) });
const many = JSON.stringify({ x: Array(60_000).fill(1) });
const bomb = answer(200, { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(8 * 2 ** 20, ' ')));
const redirect = answer(302, { location: '/elsewhere' });
const manyHeaders = answer(
  200,
  Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`x-${n}`, 'a'.repeat(200)])),
);

const discovery = (title: string, value: unknown): HostileDocuments => ({
  title: `a discovery document ${title}`,
  documents: () => ({ discovery: value }),
});
const over = (title: string, change: Record<string, unknown>): HostileDocuments => ({
  title: `a discovery document ${title}`,
  documents: (usual) => ({ discovery: { ...usual.discovery, ...change } }),
});
const keys = (title: string, value: unknown): HostileDocuments => ({
  title: `a key set ${title}`,
  documents: () => ({ keys: value }),
});
const key = (title: string, change: Record<string, unknown>): HostileDocuments => ({
  title: `a key set with a key ${title}`,
  documents: (usual) => ({ keys: { keys: [{ ...usual.key, ...change }] } }),
});
const short = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' });

export const hostileDocuments: HostileDocuments[] = [
  discovery('that is empty', ''),
  discovery('that is null', 'null'),
  discovery('that is a list', '[]'),
  discovery('that is a text', '"text"'),
  discovery('that is a page', '<html>Sign in</html>'),
  discovery('that ends early', '{"issuer":'),
  discovery('that is too large', huge),
  discovery('that is too deep', deep),
  discovery('with too many values', many),
  discovery('that is compressed a thousandfold', bomb),
  discovery('that is a redirect', redirect),
  discovery('with the status 500', answer(500)),
  discovery('with the status 404', answer(404)),
  discovery('with the status 204', answer(204)),
  discovery('after which the connection is lost', reset),
  discovery('that is cut off', cutOff),
  discovery('with too many headers', manyHeaders),
  over('without an issuer', { issuer: undefined }),
  over('of another issuer', { issuer: 'https://evil.example' }),
  over('with a list of issuers', { issuer: ['https://evil.example'] }),
  over('with a number as issuer', { issuer: 1 }),
  over('without a location of keys', { jwks_uri: undefined }),
  over('with a relative location of keys', { jwks_uri: '/keys' }),
  over('with keys in a file', { jwks_uri: 'file:///etc/passwd' }),
  over('with keys in itself', { jwks_uri: 'data:application/json,{"keys":[]}' }),
  over('with keys of the metadata of the machine', { jwks_uri: 'http://169.254.169.254/keys' }),
  over('with keys of another host, without TLS', { jwks_uri: 'http://evil.example/keys' }),
  over('with a list of locations', { jwks_uri: ['https://evil.example/keys'] }),
  {
    title: 'a discovery document with the issuer twice',
    documents: ({ discovery: usual }) => ({
      discovery: `{"issuer":"https://evil.example",${JSON.stringify(usual).slice(1)}`,
    }),
    ofChosenHosts: true,
  },
  keys('that is empty', ''),
  keys('that is null', 'null'),
  keys('that is a list', '[]'),
  keys('that is a page', '<html>Sign in</html>'),
  keys('without keys', '{}'),
  keys('with an object of keys', '{"keys":{}}'),
  keys('with no key', '{"keys":[]}'),
  keys('with null as a key', '{"keys":[null]}'),
  keys('with a text as a key', '{"keys":["key"]}'),
  keys('that is too large', huge),
  keys('that is too deep', deep),
  keys('with too many values', many),
  keys('that is compressed a thousandfold', bomb),
  keys('that is a redirect', redirect),
  keys('with the status 500', answer(500)),
  keys('after which the connection is lost', reset),
  keys('that is cut off', cutOff),
  key('with a shared secret', { kty: 'oct', k: 'c2VjcmV0' }),
  key('of an unknown type', { kty: 'AKP' }),
  key('without a type', { kty: undefined }),
  key('of 1,024 bits', { n: short.n, e: short.e }),
  key('with the exponent 1', { e: 'AQ' }),
  key('with an even exponent', { e: 'BA' }),
  key('without a modulus', { n: undefined }),
  key('with an empty modulus', { n: '' }),
  key('with a modulus that is a number', { n: 7 }),
  key('with a modulus that is not encoded', { n: '!!!' }),
  key('of another name', { kid: 'other' }),
  key('whose name is a list', { kid: ['key-1'] }),
  key('for encryption', { use: 'enc' }),
  key('for another algorithm', { alg: 'RS384' }),
  key('that may only encrypt', { key_ops: ['encrypt'] }),
  {
    title: 'a key set with two keys of one name',
    documents: ({ key: usual }) => ({
      keys: { keys: [usual, { ...usual, n: `${usual.n!.slice(0, -2)}AA` }] },
    }),
  },
  {
    title: 'a key set with a name twice',
    documents: ({ key: usual }) => ({ keys: `{"keys":[],"keys":[${JSON.stringify(usual)}]}` }),
    ofChosenHosts: true,
  },
];
