import { createHmac, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { exportSPKI } from 'jose';
import { audience, type IssuerForTest, secondsNow, subject, usualClaims } from './issuer-for-test.ts';

/** A token that must not log in, and what the refusal says. */
export interface Forgery {
  title: string;
  token: (issuer: IssuerForTest) => Promise<string>;
  status: 400 | 403;
  sentence: RegExp;
  /** Fields of the role, besides those of every role. */
  role?: Record<string, unknown>;
}

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const bodyOf = ({ url }: IssuerForTest, claims = {}) => encoded({ ...usualClaims(url), ...claims });
const usualHeader = ({ kid }: IssuerForTest) => ({ alg: 'RS256', kid, typ: 'JWT' });

/** Any texts as header and payload, signed with the issuer's own key. */
function signedText(
  issuer: IssuerForTest,
  payload: string,
  header = JSON.stringify(usualHeader(issuer)),
): string {
  const content = `${encoded(header)}.${encoded(payload)}`;
  return `${content}.${createSign('sha256')
    .update(content)
    .sign(issuer.keys.privateKey as unknown as KeyObject, 'base64url')}`;
}

/** The usual claims and further members, as text. */
const withMembers = (issuer: IssuerForTest, members: string): string =>
  `${JSON.stringify(usualClaims(issuer.url)).slice(0, -1)},${members}}`;

/** A token with the usual claims that another key has signed. */
function signedBy(issuer: IssuerForTest, header: object, key: KeyObject, hash = 'sha256'): string {
  const content = `${encoded({ ...usualHeader(issuer), ...header })}.${bodyOf(issuer)}`;
  return `${content}.${createSign(hash).update(content).sign({ key, dsaEncoding: 'ieee-p1363' }, 'base64url')}`;
}

const foreign = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const foreignJwk = foreign.publicKey.export({ format: 'jwk' });
const unknownKey = /^the token's key is not one of the directory's$/;
const badSignature = /^the token's signature is not valid$/;
const badAlgorithm = /^the token's algorithm is not accepted$/;
const malformed = /^jwt: /;

const claims = (title: string, over: Record<string, unknown>, sentence: RegExp, role = {}): Forgery => ({
  title,
  token: (issuer) => issuer.sign(over),
  status: 403,
  sentence,
  role,
});
const header = (
  title: string,
  over: Record<string, unknown>,
  sentence: RegExp,
  status: 400 | 403 = 403,
): Forgery => ({
  title,
  token: (issuer) => issuer.sign({}, over),
  status,
  sentence,
});
const text = (
  title: string,
  build: (issuer: IssuerForTest) => string,
  sentence: RegExp,
  status: 400 | 403,
): Forgery => ({
  title,
  token: async (issuer) => build(issuer),
  status,
  sentence,
});

/** Signatures that are missing, of another key, or with another algorithm. */
export const signatures: Forgery[] = [
  text(
    'no algorithm and no signature',
    (i) => `${encoded({ alg: 'none' })}.${bodyOf(i)}.`,
    badAlgorithm,
    403,
  ),
  text(
    'the algorithm None in capitals',
    (i) => `${encoded({ alg: 'None', kid: i.kid })}.${bodyOf(i)}.`,
    badAlgorithm,
    403,
  ),
  text('an empty signature', (i) => `${encoded(usualHeader(i))}.${bodyOf(i)}.`, badSignature, 403),
  {
    title: 'HS256 with the public key in PEM as its secret (CVE-2015-9235)',
    token: async (i) => {
      const content = `${encoded({ alg: 'HS256', kid: i.kid })}.${bodyOf(i)}`;
      const pem = await exportSPKI(i.keys.publicKey);
      return `${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`;
    },
    status: 403,
    sentence: badAlgorithm,
  },
  text(
    'HS256 with the modulus as its secret',
    (i) => {
      const content = `${encoded({ alg: 'HS256', kid: i.kid })}.${bodyOf(i)}`;
      return `${content}.${createHmac('sha256', Buffer.from(i.jwk.n!, 'base64url')).update(content).digest('base64url')}`;
    },
    badAlgorithm,
    403,
  ),
  text('a foreign key under a known ID', (i) => signedBy(i, {}, foreign.privateKey), badSignature, 403),
  text(
    'a foreign key under an unknown ID',
    (i) => signedBy(i, { kid: 'other' }, foreign.privateKey),
    unknownKey,
    403,
  ),
  text(
    'a path in place of a key ID',
    (i) => signedBy(i, { kid: '../../dev/null' }, foreign.privateKey),
    unknownKey,
    403,
  ),
  text(
    'a URL in place of a key ID',
    (i) => signedBy(i, { kid: 'https://evil.example/k' }, foreign.privateKey),
    unknownKey,
    403,
  ),
  text(
    'SQL in place of a key ID',
    (i) => signedBy(i, { kid: "' union select 1 --" }, foreign.privateKey),
    unknownKey,
    403,
  ),
  text(
    'a key of its own in jwk (CVE-2018-0114)',
    (i) => signedBy(i, { jwk: foreignJwk }, foreign.privateKey),
    badSignature,
    403,
  ),
  text(
    'a key of its own in jwk, without an ID',
    (i) => signedBy(i, { jwk: foreignJwk, kid: undefined }, foreign.privateKey),
    badSignature,
    403,
  ),
  text(
    'keys at an address of its own in jku (CVE-2020-16250, CVE-2020-16251)',
    (i) => signedBy(i, { jku: 'https://evil.example/keys' }, foreign.privateKey),
    badSignature,
    403,
  ),
  text(
    'a certificate at an address of its own in x5u',
    (i) => signedBy(i, { x5u: 'https://evil.example/c' }, foreign.privateKey),
    badSignature,
    403,
  ),
  text(
    'a certificate of its own in x5c',
    (i) => signedBy(i, { x5c: [encoded('c')] }, foreign.privateKey),
    badSignature,
    403,
  ),
  text(
    'ES256 under the ID of an RSA key',
    (i) => signedBy(i, { alg: 'ES256' }, generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey),
    unknownKey,
    403,
  ),
  text(
    'an ECDSA signature of zeros (CVE-2022-21449)',
    (i) =>
      `${encoded({ ...usualHeader(i), alg: 'ES256' })}.${bodyOf(i)}.${Buffer.alloc(64).toString('base64url')}`,
    unknownKey,
    403,
  ),
  text(
    'a signature of random bytes',
    (i) => `${encoded(usualHeader(i))}.${bodyOf(i)}.${randomBytes(256).toString('base64url')}`,
    badSignature,
    403,
  ),
  text(
    'RS512 with the signature of RS256',
    (i) =>
      `${encoded({ ...usualHeader(i), alg: 'RS512' })}.${signedText(i, JSON.stringify(usualClaims(i.url)))
        .split('.')
        .slice(1)
        .join('.')}`,
    badSignature,
    403,
  ),
  {
    title: 'a changed claim',
    token: async (i) => {
      const [head, , signature] = (await i.sign()).split('.');
      return `${head}.${bodyOf(i, { environment: 'another' })}.${signature}`;
    },
    status: 403,
    sentence: badSignature,
  },
  {
    title: 'a signature with one bit changed',
    token: async (i) => {
      const parts = (await i.sign()).split('.');
      const bytes = Buffer.from(parts[2]!, 'base64url');
      bytes[10] = bytes[10]! ^ 1;
      return `${parts[0]}.${parts[1]}.${bytes.toString('base64url')}`;
    },
    status: 403,
    sentence: badSignature,
  },
];

/** Tokens that a parser could read in another way. */
export const forms: Forgery[] = [
  text('a claim twice', (i) => signedText(i, withMembers(i, '"sub":"other"')), /contains a name twice/, 400),
  text(
    'a claim twice, in another spelling',
    (i) => signedText(i, withMembers(i, '"s\\u0075b":"other"')),
    /contains a name twice/,
    400,
  ),
  text(
    'a name twice within a claim',
    (i) => signedText(i, withMembers(i, '"x":{"a":1,"a":2}')),
    /contains a name twice/,
    400,
  ),
  text(
    'the algorithm twice',
    (i) => signedText(i, JSON.stringify(usualClaims(i.url)), `{"alg":"none","kid":"${i.kid}","alg":"RS256"}`),
    /contains a name twice/,
    400,
  ),
  text('a list of claims', (i) => signedText(i, JSON.stringify([usualClaims(i.url)])), malformed, 400),
  text(
    'claims that are not encoded (b64)',
    (i) =>
      signedText(
        i,
        JSON.stringify(usualClaims(i.url)),
        JSON.stringify({ ...usualHeader(i), crit: ['b64'], b64: false }),
      ),
    malformed,
    400,
  ),
  text(
    'an unknown critical extension',
    (i) =>
      signedText(
        i,
        JSON.stringify(usualClaims(i.url)),
        JSON.stringify({ ...usualHeader(i), crit: ['exp'], exp: 1 }),
      ),
    malformed,
    400,
  ),
  text(
    'an empty list of critical extensions',
    (i) => signedText(i, JSON.stringify(usualClaims(i.url)), JSON.stringify({ ...usualHeader(i), crit: [] })),
    malformed,
    400,
  ),
  text(
    'a key ID that is a list',
    (i) =>
      signedText(i, JSON.stringify(usualClaims(i.url)), JSON.stringify({ ...usualHeader(i), kid: [i.kid] })),
    malformed,
    400,
  ),
  text('encrypted content', () => `${encoded({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a.b.c.d`, malformed, 400),
  text(
    'compressed encrypted content (CVE-2024-28180)',
    () => `${encoded({ alg: 'dir', enc: 'A256GCM', zip: 'DEF' })}..a.b.c`,
    malformed,
    400,
  ),
  text('thousands of dots (CVE-2025-27144, CVE-2025-30204)', () => '.'.repeat(60_000), malformed, 400),
  text(
    'the JSON form of a signature',
    (i) => JSON.stringify({ payload: bodyOf(i), signatures: [] }),
    malformed,
    400,
  ),
  text(
    'more than 64 KiB',
    (i) => signedText(i, withMembers(i, `"x":"${'a'.repeat(60_000)}"`)),
    /exceeds 64 KiB/,
    400,
  ),
  text(
    'deeply nested claims',
    (i) => signedText(i, withMembers(i, `"x":${'['.repeat(5_000)}${']'.repeat(5_000)}`)),
    malformed,
    400,
  ),
  text(
    'thousands of values',
    (i) => signedText(i, withMembers(i, `"x":[${'1,'.repeat(3_000)}1]`)),
    malformed,
    400,
  ),
  header('the type of a logout', { typ: 'logout+jwt' }, /^the token's typ/),
  header('the type of a proof of possession', { typ: 'dpop+jwt' }, /^the token's typ/),
  header('the type of a security event', { typ: 'application/secevent+jwt' }, /^the token's typ/),
  header('a type that is not a text', { typ: ['JWT'] as unknown as string }, /^the token's typ|^jwt: /),
];

/** Claims about the token itself that are not those of the mount or the role. */
export const envelopes: Forgery[] = [
  claims('another issuer', { iss: 'https://evil.example' }, /^the token's iss is not/),
  claims('no issuer', { iss: undefined }, /^the token's iss is missing/),
  claims('an issuer in a list', { iss: ['https://evil.example'] }, /^the token's iss is not/),
  {
    ...claims('the issuer with a slash', {}, /^the token's iss is not/),
    token: (i) => i.sign({ iss: `${i.url}/` }),
  },
  {
    ...claims('the issuer as the user of another host', {}, /^the token's iss is not/),
    token: (i) => i.sign({ iss: `${i.url}@evil.example` }),
  },
  claims(
    'another audience, as a text (CVE-2024-5798)',
    { aud: 'https://other.example' },
    /^the token's aud is not/,
  ),
  claims(
    'another audience, in a list (CVE-2024-5798)',
    { aud: ['https://other.example'] },
    /^the token's aud is not/,
  ),
  claims('an empty list of audiences', { aud: [] }, /^the token's aud is not/),
  claims('no audience', { aud: undefined }, /^the token's aud is missing/),
  claims('the audience in a list of lists', { aud: [[audience]] }, /^the token's aud is not/),
  claims('the audience as a name', { aud: { [audience]: true } }, /^the token's aud is not/),
  claims('the beginning of the audience', { aud: audience.slice(0, -1) }, /^the token's aud is not/),
  claims('the audience in capitals', { aud: audience.toUpperCase() }, /^the token's aud is not/),
  claims('no expiry', { exp: undefined }, /^the token's exp is missing/),
  claims('an expiry in the past', { exp: secondsNow() - 3_600 }, /^the token has expired/),
  claims('an expiry that is a text', { exp: String(secondsNow() + 300) }, /^the token's exp is not/),
  claims('an expiry that is null', { exp: null }, /^the token's exp is (not|missing)/),
  claims('a beginning in the future', { nbf: secondsNow() + 3_600 }, /^the token is not valid yet/),
  claims('a beginning that is a text', { nbf: '0' }, /nbf|not valid yet/),
  claims('an issue in the future', { iat: secondsNow() + 3_600 }, /^the token's iat lies in the future/),
  claims('an issue that is a text', { iat: '0' }, /^the token's iat is not/),
];

const bound = (bound_claims: Record<string, unknown>, bound_claims_type = 'string') => ({
  bound_claims,
  bound_claims_type,
});
const notBound = /is not among the role's bound_claims$/;
const missing = /is missing, and the role has it in bound_claims$/;
const notUser = /user_claim, is missing or not a text$/;
const notGroups = /groups_claim, is missing or not a list of texts$/;

/** Claims about the identity that are not those that the role binds. */
export const bindings: Forgery[] = [
  claims('another subject', { sub: 'other' }, /^the token's sub is not the role's bound_subject$/),
  claims('no subject', { sub: undefined }, /^the token's sub is not/),
  claims('the subject in a list', { sub: [subject] }, /^the token's sub is not/),
  claims('the subject with a blank', { sub: `${subject} ` }, /^the token's sub is not/),
  claims('no claim that is bound', {}, missing, bound({ team: 'a' })),
  claims('a bound claim that is null', { team: null }, missing, bound({ team: 'a' })),
  claims('a number for a text', { id: 7 }, notBound, bound({ id: '7' })),
  claims('a text for a number', { id: '7' }, notBound, bound({ id: 7 })),
  claims(
    'a number next to the bound one',
    { id: 9_007_199_254_740_992 },
    notBound,
    bound({ id: 9_007_199_254_740_991 }),
  ),
  claims('the text true for a boolean', { ok: 'true' }, notBound, bound({ ok: true })),
  claims('1 for a boolean', { ok: 1 }, notBound, bound({ ok: true })),
  claims('a boolean for a text', { ok: true }, notBound, bound({ ok: 'true' })),
  claims('a bound value in a list of lists', { team: [['a']] }, notBound, bound({ team: 'a' })),
  claims('a bound value as a name', { team: { a: true } }, notBound, bound({ team: 'a' })),
  claims('a list as one text', { team: 'a,b' }, notBound, bound({ team: ['a', 'b'] })),
  claims('an empty list', { team: [] }, notBound, bound({ team: 'a' })),
  claims('a part of a bound value', { team: 'ab' }, notBound, bound({ team: 'a' })),
  claims('a bound value in capitals', { team: 'A' }, notBound, bound({ team: 'a' })),
  claims(
    'a bound claim in another object',
    { 'a.team': 'x', a: { team: 'a' } },
    missing,
    bound({ 'a.team': 'a' }),
  ),
  claims('a property of every object', {}, missing, bound({ constructor: 'a' })),
  claims('a property of every text', { team: 'abc' }, missing, bound({ '/team/length': 3 })),
  claims('a pattern in the token', { team: '*' }, notBound, bound({ team: 'a' })),
  claims('a star where the role has a text', { team: 'ab' }, notBound, bound({ team: 'a*' })),
  claims(
    'an owner with the same beginning',
    { repository: 'acme-evil/x' },
    notBound,
    bound({ repository: 'acme/*' }, 'glob'),
  ),
  claims(
    'a value across a separator',
    { repository: 'acme/x/y' },
    notBound,
    bound({ repository: 'acme/*' }, 'glob'),
  ),
  claims(
    'parts that the caller chose',
    { ref: 'repo:acme/x:environment:ref:refs/heads/main' },
    notBound,
    bound({ ref: 'repo:acme/*:ref:refs/heads/main' }, 'glob'),
  ),
  claims('a line break in a pattern', { team: 'a\nb' }, notBound, bound({ team: 'a*' }, 'glob')),
  claims(
    'a value that the database cannot store',
    { team: 'a\u0000' },
    notBound,
    bound({ team: 'a*' }, 'glob'),
  ),
  claims('one of two bound claims', { team: 'a', stage: 'c' }, notBound, bound({ team: 'a', stage: 'b' })),
  claims('no user claim', {}, notUser, { user_claim: 'email' }),
  claims('an empty user claim', { email: ' ' }, notUser, { user_claim: 'email' }),
  claims('a number as user claim', { email: 1 }, notUser, { user_claim: 'email' }),
  claims('a list as user claim', { email: ['a'] }, notUser, { user_claim: 'email' }),
  claims('control characters in the user claim', { email: 'a\u0000b' }, notUser, { user_claim: 'email' }),
  claims('a broken character in the user claim', { email: 'a\ud800' }, notUser, { user_claim: 'email' }),
  claims('a long user claim', { email: 'a'.repeat(600) }, notUser, { user_claim: 'email' }),
  claims('a pointer where the role has a name', { a: { b: 'x' } }, notUser, { user_claim: '/a/b' }),
  claims('a user claim of every object', {}, notUser, { user_claim: 'toString' }),
  claims('no groups', {}, notGroups, { groups_claim: 'groups' }),
  claims('groups that are not texts', { groups: ['a', 1] }, notGroups, { groups_claim: 'groups' }),
  claims('groups that are an object', { groups: { a: true } }, notGroups, { groups_claim: 'groups' }),
  claims('too many groups', { groups: Array(1_001).fill('a') }, notGroups, { groups_claim: 'groups' }),
  claims('groups that are elsewhere', { _claim_names: { groups: 'src1' } }, /^the token omits its groups/, {
    groups_claim: 'groups',
  }),
  claims('metadata that is not a text', { actor: { a: 1 } }, /claim_mappings name, is not a short text$/, {
    claim_mappings: { actor: 'actor' },
  }),
];
