import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { createAuthenticator } from '../src/authenticator.ts';
import { noLimits } from '../src/rate-limits/rate-limits.ts';
import { newWrappingToken } from '../src/tokens/token.ts';
import { type AccessForTest, allowed, denied, openAccessForTest } from './access-for-test.ts';

// A specification of what the audit log records about a refused request: everything that is known when it is refused.

let access: AccessForTest;
let tokens: Record<
  'none' | 'foreign' | 'wrapping' | 'bound' | 'reader' | 'root' | 'large' | 'used',
  string | undefined
>;
beforeAll(async () => {
  access = await openAccessForTest();
  const rules = (name: string) => Array.from({ length: 2_600 }, (_, n) => `kv/${name}/${n} read`).join('; ');
  for (const name of ['large1', 'large2']) await access.policy(name, rules(name));
  tokens = {
    none: undefined,
    foreign: `sst_${'a'.repeat(43)}`,
    wrapping: newWrappingToken().reveal(),
    bound: await access.token({ boundCidrs: ['11.0.0.0/8'] }),
    reader: await access.tokenWith('kv/data/* read'),
    root: await access.token(),
    large: await access.token({ policies: ['large1', 'large2'] }),
    used: await access.token({ usesLeft: 1 }),
  };
  expect(await access.verdict('GET kv/data/a', { token: tokens.used })).toBe(allowed);
});
afterAll(() => access.db.close());

test.each<
  [
    keyof typeof tokens,
    request: string,
    header: string | undefined,
    verdict: RegExp | string,
    place: string,
    isIdentified: boolean,
  ]
>([
  ['root', 'GET kv/data/a', 'a//b', /^invalid/, ': kv/data/a', false],
  ['none', 'GET team/kv/data/a', undefined, denied, ': team/kv/data/a', false],
  ['none', 'GET kv/data/a', 'nowhere', denied, 'nowhere: kv/data/a', false],
  ['none', 'POST auth/none/login', 'team', denied, 'team: auth/none/login', false],
  ['none', 'POST team/auth/none/login', undefined, denied, ': team/auth/none/login', false],
  ['foreign', 'GET kv/data/a', 'team', denied, 'team: kv/data/a', false],
  ['wrapping', 'GET team/kv/data/a', undefined, denied, ': team/kv/data/a', false],
  ['bound', 'GET team/kv/data/a', undefined, denied, ': team/kv/data/a', true],
  ['large', 'GET team/kv/data/a', undefined, /^forbidden: the policies/, ': team/kv/data/a', true],
  ['used', 'GET team/kv/data/a', undefined, denied, 'team: kv/data/a', true],
  ['reader', 'GET team/kv/data/a', undefined, denied, 'team: kv/data/a', true],
  ['reader', 'POST kv/data/a', undefined, denied, ': kv/data/a', true],
  ['root', 'GET kv/data/a', 'nowhere', /^not_found/, 'nowhere: kv/data/a', true],
  [
    'root',
    'GET team/sys/sync/config',
    undefined,
    /^forbidden: sys\/sync\/config/,
    'team: sys/sync/config',
    true,
  ],
])(
  '%s: %s in %s is %s at "%s"; the caller is known: %s',
  async (token, request, namespace, verdict, place, isIdentified) => {
    const decision = await access.decide(request, { token: tokens[token], namespace });
    expect(await access.verdict(request, { token: tokens[token], namespace })).toEqual(
      verdict instanceof RegExp ? expect.stringMatching(verdict) : verdict,
    );
    const { caller, path } = decision;
    expect(decision.allowed).toBe(false);
    expect(`${caller.namespace.path}: ${path}`).toBe(place);
    expect(caller).toMatchObject({
      ...{ requestId: 'r', remoteAddress: '10.0.0.1', grants: [], displayName: isIdentified ? 'test' : '' },
      ...{ accessor: isIdentified ? expect.any(String) : null, tokenType: isIdentified ? 'service' : null },
      policies: isIdentified ? [expect.any(String), ...(token === 'large' ? ['large2'] : [])] : [],
    });
  },
);

test('a request that exceeds a limit is recorded with what the limit is of', async () => {
  const recorded = async (limits: Partial<typeof noLimits>, request: string, token: string | undefined) => {
    const authenticator = access.newAuthenticator({ ...noLimits, ...limits });
    await access.decide(request, { token }, authenticator);
    const decision = await access.decide(request, { token }, authenticator);
    if (decision.allowed) return allowed;
    const { caller, path, problem } = decision;
    return `${problem.sentences[0]} at ${caller.namespace.path}: ${path} by ${caller.displayName}, ${caller.grants.length} grants`;
  };
  expect(await recorded({ perLoginAddress: 1 }, 'POST team/auth/cloudB/login', undefined)).toBe(
    'the rate limit of logins from this address is exceeded at : team/auth/cloudB/login by , 0 grants',
  );
  expect(await recorded({ perToken: 1 }, 'GET team/kv/data/a', tokens.root)).toBe(
    'the rate limit of this token is exceeded at : team/kv/data/a by test, 0 grants',
  );
  expect(await recorded({ perNamespace: 1 }, 'GET team/kv/data/a', tokens.root)).toBe(
    'the rate limit of this namespace is exceeded at team: kv/data/a by test, 0 grants',
  );
});

test('a request is unavailable, not allowed, if the database is down', async () => {
  const broken: Db = { ...access.db, query: () => Promise.reject(new Error('down')) };
  const authenticator = createAuthenticator({ db: broken, keys: access.keys });
  expect(await access.verdict('GET kv/data/a', { token: await access.token() }, authenticator)).toBe(
    'unavailable: the token could not be checked because the database is unavailable',
  );
});

test('what was passed in is not changed', async () => {
  const request = Object.freeze({
    ...({ token: tokens.root, namespace: 'team', operation: 'read', path: 'inner/kv/data/a' } as const),
    ...{ remoteAddress: '10.0.0.1', requestId: 'r' },
  });
  const decision = await access.newAuthenticator().authenticate(request);
  expect(decision).toMatchObject({
    allowed: true,
    path: 'kv/data/a',
    caller: { namespace: { path: 'team/inner' } },
  });
});
