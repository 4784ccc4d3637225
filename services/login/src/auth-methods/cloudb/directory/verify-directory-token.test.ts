import { createSign, generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Problem } from '@secrets/domain';
import { createLocalJWKSet, type JWK } from 'jose';
import { verifyDirectoryToken, verifySignature } from './verify-directory-token.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' } as JWK;
const keys = createLocalJWKSet({ keys: [jwk] });
const tenant = 'aaaaaaaa-0000-4000-8000-000000000001';
const config = { environment: 'public', tenant_id: tenant, resource: 'https://r' } as const;

const header = '{"alg":"RS256","kid":"k"}';
const claims = {
  iss: `https://sts.windows.net/${tenant}/`,
  aud: 'https://r',
  tid: tenant,
  oid: 'o',
  exp: Math.floor(Date.now() / 1000) + 600,
};
const encoded = (text: string) => Buffer.from(text).toString('base64url');

/** A token of any text, with a signature of the directory's key. */
function signed(payloadText: string, headerText = header): string {
  const content = `${encoded(headerText)}.${encoded(payloadText)}`;
  return `${content}.${createSign('sha256').update(content).sign(privateKey, 'base64url')}`;
}

/** The payload, with further members as text. */
const withMembers = (text: string) => `${JSON.stringify(claims).slice(0, -1)},${text}}`;
const valid = signed(JSON.stringify(claims));

async function refusalOf(token: string, known = keys): Promise<string> {
  const error: unknown = await verifyDirectoryToken(token, known, config, new Date()).catch(
    (reason: unknown) => reason,
  );
  return error instanceof Problem ? `${error.kind}: ${error.message}` : 'none';
}

test.each([
  ['an ordinary token', valid],
  ['unknown claims', signed(withMembers('"x":{"a":1},"y":{"a":1},"z":["a","a"]'))],
  ['nested claims', signed(withMembers(`"x":${'['.repeat(15)}${']'.repeat(15)}`))],
  ['an audience among others', signed(JSON.stringify({ ...claims, aud: ['https://r', 'x'] }))],
])('%s verifies', async (_what, token) => {
  expect(await refusalOf(token)).toBe('none');
});

test.each([
  ['a claim twice', signed(withMembers('"oid":"p"'))],
  ['a claim twice, in another spelling', signed(withMembers('"o\\u0069d":"p"'))],
  ['a name twice in a claim', signed(withMembers('"x":{"a":1,"a":2}'))],
  ['a header field twice', signed(JSON.stringify(claims), '{"alg":"none","kid":"k","alg":"RS256"}')],
  ['a list of claims', signed(`[${JSON.stringify(claims)}]`)],
  ['a text', signed('"text"')],
  ['no claims', signed('')],
  ['another token', signed(valid)],
  ['another token as the content type says', signed(valid, '{"alg":"RS256","kid":"k","cty":"JWT"}')],
  ['critical extensions', signed(JSON.stringify(claims), '{"alg":"RS256","kid":"k","crit":["x"],"x":1}')],
  [
    'claims that are not encoded',
    signed(JSON.stringify(claims), '{"alg":"RS256","kid":"k","crit":["b64"],"b64":false}'),
  ],
  ['no key', signed(JSON.stringify(claims), '{"alg":"RS256"}')],
  ['a key that is not a text', signed(JSON.stringify(claims), '{"alg":"RS256","kid":["k"]}')],
  ['no algorithm', signed(JSON.stringify(claims), '{"kid":"k"}')],
  ['an algorithm that is not a text', signed(JSON.stringify(claims), '{"alg":["RS256"],"kid":"k"}')],
  ['a header that is a list', signed(JSON.stringify(claims), '["RS256"]')],
  ['a header that is nothing', signed(JSON.stringify(claims), 'null')],
  ['encrypted content', `${encoded('{"alg":"RSA-OAEP","enc":"A256GCM"}')}.a.b.c.d`],
  ['four parts', `${valid}.x`],
  ['two parts', valid.split('.').slice(0, 2).join('.')],
  ['empty parts', '..'],
  ['deeply nested claims', signed(withMembers(`"x":${'['.repeat(20_000)}${']'.repeat(20_000)}`))],
  ['many claims', signed(withMembers(`"x":[${'1,'.repeat(2_000)}1]`))],
  ['deeply nested headers', `${encoded('['.repeat(40_000))}.a.b`],
  ['many dots', '.'.repeat(65_000)],
  ['more than 64 KiB', signed(withMembers(`"x":"${'a'.repeat(60_000)}"`))],
])('a token with %s is refused as malformed', async (_what, token) => {
  const start = performance.now();
  expect(await refusalOf(token)).toMatch(/^invalid: jwt: /);
  expect(performance.now() - start).toBeLessThan(1_000);
});

test.each([
  ['no signature', `${encoded('{"alg":"none"}')}.${encoded(JSON.stringify(claims))}.`],
  [
    'no signature under the name of a key',
    `${encoded('{"alg":"none","kid":"k"}')}.${encoded(JSON.stringify(claims))}.`,
  ],
  ['characters outside of the encoding', valid.replace('.', '.\u0000')],
  ['an empty signature', `${valid.split('.').slice(0, 2).join('.')}.`],
  ['a changed claim', valid.replace(/\.[^.]+\./, `.${encoded(JSON.stringify({ ...claims, oid: 'p' }))}.`)],
  [
    'a key of its own',
    `${encoded(JSON.stringify({ alg: 'RS256', kid: 'own', jwk }))}.${valid.split('.').slice(1).join('.')}`,
  ],
  [
    'keys at an address of its own',
    `${encoded('{"alg":"RS256","kid":"own","jku":"https://evil.example/keys"}')}.${valid.split('.').slice(1).join('.')}`,
  ],
  ['an expiry that is a text', signed(JSON.stringify({ ...claims, exp: '9999999999' }))],
  ['an expiry in the past', signed(JSON.stringify({ ...claims, exp: 1 }))],
  ['a principal that is null', signed(JSON.stringify({ ...claims, oid: undefined }))],
  ['a tenant that is a list', signed(JSON.stringify({ ...claims, tid: ['x', tenant] }))],
  ['a tenant that is an object', signed(JSON.stringify({ ...claims, tid: { toLowerCase: tenant } }))],
])('a token with %s is refused', async (_what, token) => {
  expect(await refusalOf(token)).toMatch(/^forbidden: the token's |^forbidden: the token has expired/);
});

test('a tenant in a list of one is refused, although it reads like the tenant', async () => {
  expect(await refusalOf(signed(JSON.stringify({ ...claims, tid: [tenant] })))).toMatch(/^forbidden: .*tid/);
});

test.each([
  ['1,024 bits', generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' })],
  ['no modulus', { ...jwk, n: undefined }],
  ['an empty modulus', { ...jwk, n: '' }],
])('a key of the directory with %s is not used', async (_what, key) => {
  const published = createLocalJWKSet({ keys: [{ ...key, kid: 'k', use: 'sig' } as JWK] });
  expect(await refusalOf(valid, published)).toBe("bad_gateway: the directory's keys are not usable");
  await expect(verifySignature(valid, published)).rejects.toMatchObject({ kind: 'bad_gateway' });
});
