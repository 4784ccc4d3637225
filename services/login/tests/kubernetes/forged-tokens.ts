import { createHmac, createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { generateKeyPair } from 'jose';
import type { ClusterForTest } from './cluster/cluster-for-test.ts';
import { account, audience, serverAudience, type TokenRequest } from './cluster/service-account-tokens.ts';

/** A token that must not log in, however tokens are verified. */
export interface Forgery {
  title: string;
  token: (cluster: ClusterForTest) => Promise<string>;
  sentence: RegExp;
}

const encoded = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const parts = (jwt: string) => jwt.split('.') as [string, string, string];
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());

/** Any texts as header and payload, signed with the key of the cluster. */
function signedText(cluster: ClusterForTest, header: string, payload: string): string {
  const content = `${header}.${payload}`;
  const key = cluster.authority.keys.privateKey as unknown as KeyObject;
  return `${content}.${createSign('sha256').update(content).sign(key, 'base64url')}`;
}

const unverified =
  /^(?:the token's (?:signature|algorithm|key) is not|the cluster does not accept the token$|jwt: is not a signed token$)/;
const wrongAudience = /audience|^the token's aud is not|^the cluster does not accept the token$/;
const notAnAccount = /^the token is not that of a service account$/;
const otherSubject = /^the token's sub is not the service account that its other claims name$/;
const unbound = /^the (?:namespace of the )?service account is not among the role's bound_service_account_/;
const past = /^the token (?:has expired|is not valid yet)$|^the token's iat/;

const issued = (title: string, request: TokenRequest, sentence: RegExp): Forgery => ({
  title,
  token: (cluster) => cluster.issue(request),
  sentence,
});
const legacy = (title: string, request: TokenRequest, sentence: RegExp): Forgery => ({
  title,
  token: (cluster) => cluster.issueLegacy(request),
  sentence,
});
const altered = (
  title: string,
  alter: (of: [string, string, string], cluster: ClusterForTest) => string,
  sentence: RegExp,
): Forgery => ({
  title,
  token: async (cluster) => alter(parts(await cluster.issue()), cluster),
  sentence,
});

const now = () => Math.floor(Date.now() / 1_000);
const foreign = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const withPayload =
  (change: object) =>
  ([header, payload, signature]: [string, string, string]) =>
    `${header}.${encoded({ ...decoded(payload), ...change })}.${signature}`;
const own = (change: object) => ({
  'kubernetes.io': {
    namespace: account.namespace,
    serviceaccount: { name: account.name, uid: account.uid },
    ...change,
  },
});
const kube = 'kubernetes.io/serviceaccount/';

const signatures: Forgery[] = [
  {
    title: 'of another cluster, with the same key ID',
    token: async (cluster) => cluster.issue({ keys: await generateKeyPair('RS256') }),
    sentence: unverified,
  },
  altered('without a signature', ([header, payload]) => `${header}.${payload}.`, unverified),
  altered('with two parts', ([header, payload]) => `${header}.${payload}`, /^jwt: /),
  altered(
    'with alg none (CVE-2015-9235)',
    ([, payload]) => `${encoded({ alg: 'none' })}.${payload}.`,
    unverified,
  ),
  altered(
    'with HS256 and the public key as its secret (CVE-2015-9235)',
    ([, payload], { pem }) => {
      const content = `${encoded({ alg: 'HS256' })}.${payload}`;
      return `${content}.${createHmac('sha256', pem).update(content).digest('base64url')}`;
    },
    unverified,
  ),
  altered(
    'with a key of its own in jwk (CVE-2018-0114)',
    ([, payload]) => {
      const content = `${encoded({ alg: 'RS256', jwk: foreign.publicKey.export({ format: 'jwk' }) })}.${payload}`;
      return `${content}.${createSign('sha256').update(content).sign(foreign.privateKey, 'base64url')}`;
    },
    unverified,
  ),
  altered(
    'with an ECDSA signature of zeros (CVE-2022-21449)',
    ([, payload]) => `${encoded({ alg: 'ES256' })}.${payload}.${encoded('\0'.repeat(64))}`,
    unverified,
  ),
  altered(
    'with its end altered',
    ([header, payload, signature]) =>
      `${header}.${payload}.${signature.slice(0, -4)}${signature.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`,
    unverified,
  ),
  altered(
    'whose claims are not encoded (b64)',
    ([header, payload], cluster) =>
      signedText(cluster, encoded({ ...decoded(header), crit: ['b64'], b64: false }), payload),
    unverified,
  ),
  altered('with a later expiry', withPayload({ exp: now() + 99_999 }), unverified),
  altered(
    'with the name of another service account',
    withPayload({
      ...own({ serviceaccount: { name: 'admin', uid: account.uid } }),
      sub: 'system:serviceaccount:shop:admin',
    }),
    unverified,
  ),
  altered(
    'with the signature of another token',
    ([header, payload], cluster) => `${header}.${payload}.${parts(cluster.reviewerJwt)[2]}`,
    unverified,
  ),
  altered(
    'compressed and encrypted (CVE-2024-28180)',
    ([header]) => `${header}.a.b.c.d`,
    /^jwt: |not accept/,
  ),
];

const forms: Forgery[] = [
  altered(
    'with a claim twice',
    ([header, payload], cluster) => {
      const text = Buffer.from(payload, 'base64url').toString();
      return signedText(cluster, header, encoded(`{"sub":"system:serviceaccount:shop:web",${text.slice(1)}`));
    },
    /^jwt: contains a name twice$/,
  ),
  altered(
    'with a name twice below a claim',
    ([header, payload], cluster) => {
      const text = Buffer.from(payload, 'base64url').toString();
      const twice = text.replace('"namespace":', '"namespace":"kube-system","namespace":');
      return signedText(cluster, header, encoded(twice));
    },
    /^jwt: contains a name twice$/,
  ),
  altered(
    'with a text as its payload',
    ([header], cluster) => signedText(cluster, header, encoded('"x"')),
    /^jwt: |^the token/,
  ),
  {
    title: 'of thousands of dots (CVE-2025-30204)',
    token: async () => '.'.repeat(60_000),
    sentence: /^jwt: /,
  },
  issued('too large', { claims: { filler: 'x'.repeat(70_000) } }, /^jwt: exceeds 64 KiB$/),
  issued('too deep', { claims: { deep: JSON.parse('['.repeat(40) + ']'.repeat(40)) } }, /^jwt: /),
];

const claims: Forgery[] = [
  issued('of a user', { claims: { 'kubernetes.io': undefined, sub: 'admin' } }, notAnAccount),
  issued('without sub', { claims: { sub: undefined } }, otherSubject),
  issued('of a node', { claims: { sub: 'system:node:x' } }, otherSubject),
  issued('of another subject', { claims: { sub: 'system:serviceaccount:shop:other' } }, otherSubject),
  issued('of a subject in capitals', { claims: { sub: 'system:serviceaccount:shop:Web' } }, otherSubject),
  issued(
    'of a namespace with a colon',
    { claims: { ...own({ namespace: 'shop:web' }), sub: 'system:serviceaccount:shop:web:web' } },
    notAnAccount,
  ),
  issued('of a namespace that is a list', { claims: own({ namespace: ['shop'] }) }, notAnAccount),
  issued('without an ID', { claims: own({ serviceaccount: { name: account.name } }) }, notAnAccount),
  issued('without a namespace', { claims: own({ namespace: undefined }) }, notAnAccount),
  issued('with claims in a text', { claims: { 'kubernetes.io': JSON.stringify(own({})) } }, notAnAccount),
  issued(
    'with the claims of both forms',
    { claims: { [`${kube}namespace`]: 'shop', [`${kube}service-account.name`]: 'web' } },
    /^the token names its service account in two ways$/,
  ),
  legacy('without an expiry, for another audience', {}, /does not expire|audience|does not accept/),
  legacy('without an expiry, of another name', { name: 'admin' }, /does not expire|audience|does not accept/),
  legacy(
    'without an expiry, with half of its claims',
    { claims: { [`${kube}service-account.uid`]: undefined } },
    notAnAccount,
  ),
  issued('that has expired', { claims: { exp: now() - 120 } }, past),
  issued('that expires in a text', { claims: { exp: `${now() + 600}` } }, /exp/),
  issued('that is not valid yet', { claims: { nbf: now() + 120 } }, past),
];

const audiences: Forgery[] = [
  issued('for the API server', { audience: serverAudience }, wrongAudience),
  issued('for another service (CVE-2024-5798)', { audience: 'https://other.example' }, wrongAudience),
  issued('for others in a list (CVE-2024-5798)', { audience: ['a', 'b'] }, wrongAudience),
  issued('for a longer audience', { audience: `${audience}/x` }, wrongAudience),
  issued('for a part of the audience', { audience: audience.slice(0, -1) }, wrongAudience),
  issued('for nobody', { claims: { aud: [] } }, wrongAudience),
  issued('without an audience', { claims: { aud: undefined } }, /aud|does not accept/),
];

const bounds: Forgery[] = [
  issued('of another service account', { name: 'api' }, unbound),
  issued('of another namespace', { namespace: 'other' }, unbound),
  issued('of a longer name', { name: 'web-2' }, unbound),
  issued('of a name with the bound one at its end', { name: 'a.web' }, unbound),
  issued('of a longer namespace', { namespace: 'shop-evil' }, unbound),
  issued('with name and namespace exchanged', { name: 'shop', namespace: 'web' }, unbound),
];

/** Tokens that are forged, altered or badly bound, with the identifiers of published faults of their kind. */
export const forgeries: readonly Forgery[] = [...signatures, ...forms, ...claims, ...audiences, ...bounds];
