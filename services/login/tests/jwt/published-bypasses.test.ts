import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous } from '../login-for-test.ts';
import { secondsNow } from './issuer-for-test.ts';
import { needed, useJwt } from './jwt-for-test.ts';

// Published bypasses of login methods that do not depend on the form of a token; those are in forged-tokens.ts.
const { jwt, login, issuer } = useJwt();

const byEmail = { user_claim: 'email', token_policies: 'dev' };
const accessorOf = async (mount: string): Promise<string> =>
  (await login.call('GET', `/sys/auth/${mount}`)).body.data.accessor;
const logInAt = async (mount: string, claims: Record<string, unknown>, role = 'web') => {
  const body = { role, jwt: await issuer.sign(claims) };
  return login.call('POST', `/auth/${mount}/login`, body, anonymous);
};

beforeAll(async () => {
  await login.call('POST', '/sys/auth/other', { type: 'jwt' });
  await jwt.configure(undefined, 'other');
  await jwt.writeRole('web', { ...byEmail, claim_mappings: { team: 'team' } }, 'other');
  await jwt.writeRole('people', { ...byEmail, claim_mappings: { team: 'team' } });
});

describe('an identity', () => {
  test('with blanks around its name is not the one without them (CVE-2025-6013, GHSA-2q8q-8fgw-9p6p)', async () => {
    const ann = (await jwt.logInWith({ email: 'ann' }, 'people')).body.auth.entity_id;
    await login.call('POST', `/identity/entity/id/${ann}`, { policies: ['of-ann'] });
    for (const email of [' ann', 'ann ', '\u00a0ann', 'an\u200bn']) {
      const { auth } = (await jwt.logInWith({ email }, 'people')).body;
      expect([email, auth.entity_id === ann, auth.identity_policies]).toEqual([email, false, []]);
    }
    expect((await jwt.logInWith({ email: 'ann\t' }, 'people')).status).toBe(403);
    expect((await jwt.logInWith({ email: 'ann' }, 'people')).body.auth.identity_policies).toEqual(['of-ann']);
  });

  test('of another mount with the same name is another one, with its own metadata (CVE-2022-40186)', async () => {
    const one = (await jwt.logInWith({ email: 'bob', team: 'a' }, 'people')).body.auth;
    const other = (await logInAt('other', { email: 'bob', team: 'b' })).body.auth;
    expect(other.entity_id).not.toBe(one.entity_id);
    expect([one.metadata.team, other.metadata.team]).toEqual(['a', 'b']);
    const again = (await jwt.logInWith({ email: 'bob', team: 'a' }, 'people')).body.auth;
    expect([again.entity_id, again.metadata.team]).toEqual([one.entity_id, 'a']);
  });

  test('cannot be joined with another one by its alias (CVE-2021-41802), nor have two at a mount (CVE-2021-43998)', async () => {
    const mount_accessor = await accessorOf('jwt');
    const [eve, joe] = await Promise.all(
      ['eve', 'joe'].map(async (email) => (await jwt.logInWith({ email }, 'people')).body.auth.entity_id),
    );
    const alias = (name: string) =>
      login.call('POST', '/identity/entity-alias', { name, mount_accessor, canonical_id: eve });
    expect((await alias('joe')).status).toBe(409);
    expect((await alias('second')).status).toBe(409);
    expect((await jwt.logInWith({ email: 'joe' }, 'people')).body.auth.entity_id).toBe(joe);
  });

  test('is in no group by an alias of another mount (hashicorp/vault-plugin-auth-jwt#136)', async () => {
    await jwt.writeRole('grouped', { ...byEmail, groups_claim: 'groups' });
    await jwt.writeRole('grouped', { ...byEmail, groups_claim: 'groups' }, 'other');
    const { id } = (await login.call('POST', '/identity/group', { name: 'ops', policies: ['of-ops'] })).body
      .data;
    const alias = { name: 'ops', mount_accessor: await accessorOf('other'), canonical_id: id };
    expect((await login.call('POST', '/identity/group-alias', alias)).status).toBe(200);
    const claims = { email: 'kim', groups: ['ops'] };
    expect((await jwt.logInWith(claims, 'grouped')).body.auth.identity_policies).toEqual([]);
    const there = (await logInAt('other', claims, 'grouped')).body.auth;
    expect(there.identity_policies).toEqual(['of-ops']);
    await login.call('DELETE', `/identity/group/id/${id}`);
  });
});

test.each(['root', 'Root', 'ROOT', ' root', 'root '])(
  'no entity, group or role can have the policy %j (CVE-2025-5999, GHSA-7ff4-jw48-3436)',
  async (policy) => {
    const refused = await Promise.all([
      login.call('POST', '/identity/entity', { name: 'a', policies: [policy] }),
      login.call('POST', '/identity/group', { name: 'b', policies: [policy] }),
      login.call('POST', '/auth/jwt/role/c', { ...needed, token_policies: [policy] }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
  },
);

describe('a malformed request', () => {
  const canary = 'canary-of-a-request';
  test.each([
    ['POST', '/auth/jwt/login', { role: 'web', jwt: { token: canary } }],
    ['POST', '/auth/jwt/login', { role: 'web', jwt: [canary] }],
    ['POST', '/auth/jwt/login', { role: [canary], jwt: 'x' }],
    ['POST', '/auth/jwt/config', { oidc_client_secret: { secret: canary } }],
    ['POST', '/auth/jwt/config', { jwt_validation_pubkeys: [canary] }],
    ['POST', '/auth/jwt/role/d', { ...needed, bound_claims: [canary] }],
  ])(
    'is not repeated in the error or the log (CVE-2025-4166, CVE-2025-52893): %s %s %j',
    async (method, path, sent) => {
      const { status, body } = await login.call(method, path, sent);
      expect(status).toBe(400);
      expect(JSON.stringify(body) + login.logged()).not.toContain(canary);
    },
  );
});

test('what verifies a token is not remembered for another mount (CVE-2025-11621)', async () => {
  const foreign = await issuer.sign({ email: 'ann', iss: 'https://second.example', exp: secondsNow() + 300 });
  const ofOther = { jwks_url: `${issuer.url}/keys`, bound_issuer: 'https://second.example' };
  expect((await jwt.configure(ofOther, 'other')).body?.errors).toBeUndefined();
  expect(
    (await login.call('POST', '/auth/other/login', { role: 'web', jwt: foreign })).body.errors,
  ).toBeUndefined();
  expect((await jwt.logIn(foreign, 'people')).status).toBe(403);
  await jwt.configure(undefined, 'other');
  expect((await login.call('POST', '/auth/other/login', { role: 'web', jwt: foreign })).status).toBe(403);
});

describe('docs/security.md', () => {
  const root = new URL('../../../../', import.meta.url);
  const page = readFileSync(new URL('docs/security.md', root), 'utf8');
  const rows = page.split('\n## Published bypasses of login methods\n')[1]!.split('\n## ')[0]!.split('\n');
  const listed = rows
    .filter((line) => /^\| (?:CVE|GHSA|hashicorp)/.test(line))
    .map((line) => ({
      ids: line.split(' | ')[0]!.match(/CVE-[\d-]+|GHSA-[\w-]+|[\w-]+\/[\w-]+#\d+/g)!,
      files: [...line.matchAll(/\]\(\.\.\/([^)]+\.ts)\)/g)].map(([, path]) => path!),
    }));

  test.each(listed)('names a test for each of $ids', ({ ids, files }) => {
    const tests = files.map((path) => readFileSync(new URL(path, root), 'utf8')).join('\n');
    expect(ids.filter((id) => !tests.includes(id))).toEqual([]);
  });

  test('lists some', () => expect(listed.length).toBeGreaterThan(10));
});
