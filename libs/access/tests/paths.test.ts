import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { meetsConditions } from '../src/policies/rules/conditions.ts';
import type { PathRule } from '../src/policies/rules/policy-rules.ts';
import { type AccessForTest, allowed, denied, openAccessForTest } from './access-for-test.ts';

// A specification: one line per case, with the policy of the token, the request and the verdict.

let access: AccessForTest;
beforeAll(async () => {
  access = await openAccessForTest();
});
afterAll(() => access.db.close());

const specify = (...cases: [policy: string, request: string, verdict: string][]) =>
  test.each(cases)('%s: %s is %s', async (policy, request, verdict) => {
    expect(await access.verdict(request, { token: await access.tokenWith(policy) })).toBe(verdict);
  });

describe('paths and capabilities', () => {
  specify(
    ['', 'GET kv/data/a', denied],
    ['kv/data/* read', 'GET kv/data/a', allowed],
    ['kv/data/* read', 'GET kv/metadata/a', denied],
    ['kv/data/* read', 'POST kv/data/a', denied],
    ['kv/data/* read', 'DELETE kv/data/a', denied],
    ['kv/data/* create', 'POST kv/data/a', allowed],
    ['kv/data/* update', 'POST kv/data/a', allowed],
    ['kv/data/* create', 'GET kv/data/a', denied],
    ['kv/data/* create update', 'PATCH kv/data/a', denied],
    ['kv/data/* patch', 'PATCH kv/data/a', allowed],
    ['kv/data/* delete', 'DELETE kv/data/a', allowed],
    ['kv/metadata/* list', 'LIST kv/metadata', allowed],
    ['kv/metadata/* read', 'LIST kv/metadata', denied],
    // GHSA-xp3c-3jw3-4vcr: such a denial did not apply to lists.
    ['kv/metadata/* list; kv/metadata/a/* deny', 'LIST kv/metadata/a', denied],
    ['kv/metadata/* list; kv/metadata/a/* deny', 'LIST kv/metadata/a/b', denied],
    ['kv/metadata/* list; kv/metadata/a/* deny', 'LIST kv/metadata/b', allowed],
    ['kv/data/* read; kv/data/a deny', 'GET kv/data/a', denied],
    ['kv/data/* deny; kv/data/a read', 'GET kv/data/a', allowed],
    ['kv/data/a read deny', 'GET kv/data/a', denied],
  );
});

describe('sudo', () => {
  specify(
    ['auth/token/revoke-orphan update', 'POST auth/token/revoke-orphan', denied],
    ['auth/token/revoke-orphan update sudo', 'POST auth/token/revoke-orphan', allowed],
    ['auth/token/revoke-orphan sudo', 'POST auth/token/revoke-orphan', denied],
    ['auth/token/revoke-accessor update', 'POST auth/token/revoke-accessor', allowed],
    ['auth/token/create-orphan update', 'POST auth/token/create-orphan', allowed],
    ['sys/auth/* read', 'GET sys/auth/cloudB', allowed],
    ['sys/auth/* update', 'POST sys/auth/cloudB', denied],
    ['kv/data/* update', 'POST kv/data/auth/token/revoke-orphan', allowed],
  );

  test('root has it everywhere, and every capability', async () => {
    const { caller } = await access.decide('POST auth/token/revoke-orphan', {
      token: await access.token(),
    });
    expect(caller.grants).toEqual(['create', 'read', 'update', 'patch', 'delete', 'list', 'sudo']);
  });
});

describe('a path by its other name', () => {
  const all = 'sys/sync/* read list';
  specify(
    ['sys/sync/destinations/gh/* read', 'GET sys/sync/destinations/codehost/x', allowed],
    ['sys/sync/destinations/gh/* read', 'GET sys/sync/destinations/gh/x', allowed],
    ['sys/sync/destinations/cloudA-sm/+ read', 'GET sys/sync/destinations/cloudA-sm/x', allowed],
    ['sys/sync/destinations/cloudA-sm/+ read', 'GET sys/sync/destinations/aws-sm/x', allowed],
    ['sys/sync/destinations/cloudA-sm/+ read', 'GET sys/sync/destinations/azure-kv/x', denied],
    ['sys/sync/github-apps list', 'LIST sys/sync/codehost-apps', allowed],
    ['sys/sync/github-apps list', 'LIST sys/sync/github-apps', allowed],
    ['team/sys/sync/destinations/codehost/* read', 'GET team/sys/sync/destinations/gh/x', allowed],
    ['kv/data/sys/sync/destinations/gh/x read', 'GET kv/data/sys/sync/destinations/gh/x', allowed],
    ['kv/data/sys/sync/destinations/gh/x read', 'GET kv/data/sys/sync/destinations/codehost/x', denied],
    [`${all}; sys/sync/destinations/codehost/* deny`, 'GET sys/sync/destinations/gh/x', denied],
    [`${all}; sys/sync/destinations/codehost/* deny`, 'GET sys/sync/destinations/codehost/x', denied],
    [`${all}; sys/sync/destinations/codehost/* deny`, 'GET sys/sync/destinations/aws-sm/x', allowed],
    [`${all}; sys/sync/destinations/azure-kv deny`, 'LIST sys/sync/destinations/cloudB-kv', denied],
    [`${all}; sys/sync/destinations/azure-kv deny`, 'LIST sys/sync/destinations/azure-kv', denied],
    [`${all}; sys/sync/github-apps/* deny`, 'GET sys/sync/codehost-apps/x', denied],
    [`${all}; sys/sync/github-apps/* deny`, 'GET sys/sync/github-apps/x', denied],
  );
});

describe('a name that is found in any letter case', () => {
  const id = 'f0000000-0000-4000-8000-00000000000a';
  specify(
    ['* read; identity/group/name/Ops deny', 'GET identity/group/name/ops', denied],
    ['* read; identity/group/name/Ops deny', 'GET identity/group/name/Ops', denied],
    ['* read; identity/group/name/ops deny', 'GET identity/group/name/oPS', denied],
    ['* read; identity/group/name/Ops deny', 'GET identity/group/name/Dev', allowed],
    ['* read; identity/group/name/Ops* deny', 'GET identity/group/name/ops-eu', denied],
    ['* read; identity/+/name/Ops deny', 'GET identity/entity/name/OPS', denied],
    ['* read; +/+/+/Ops deny', 'GET identity/entity/name/OPS', denied],
    ['* read; identity/entity/name/ÄNN deny', 'GET identity/entity/name/änn', denied],
    ['* read; identity/entity/name/ΟΔΟΣ deny', 'GET identity/entity/name/οδοσ', denied],
    ['identity/group/name/Ops read', 'GET identity/group/name/OPS', allowed],
    ['identity/group/name/Ops read; identity/group/name/OPS deny', 'GET identity/group/name/ops', denied],
    ['* read; team/identity/group/name/Ops deny', 'GET team/identity/group/name/ops', denied],
    ['* read; +/identity/group/name/Ops deny', 'GET team/identity/group/name/ops', denied],
    [`* read; identity/group/id/${id} deny`, `GET identity/group/id/${id.toUpperCase()}`, denied],
    [
      `* read; identity/entity-alias/id/${id.toUpperCase()} deny`,
      `GET identity/entity-alias/id/${id}`,
      denied,
    ],
    ['* read; sys/policies/acl/a/Ops deny', 'GET sys/policies/acl/A/ops', denied],
    ['* read; sys/policy/Ops deny', 'GET sys/policy/ops', denied],
    ['* read; auth/Azure/prod/role/Ops deny', 'GET auth/Azure/prod/role/ops', denied],
    ['* read; auth/Azure/role/ops deny', 'GET auth/azure/role/ops', allowed],
    ['* read; auth/token/roles/Ops deny', 'GET auth/token/roles/ops', allowed],
    ['* read; kv/data/identity/group/name/Ops deny', 'GET kv/data/identity/group/name/ops', allowed],
    ['* read; kv/data/identity/group/name/Ops deny', 'GET kv/data/identity/group/name/Ops', denied],
    ['* read; identity/Group/name/ops deny', 'GET identity/group/name/ops', allowed],
  );
});

describe('parameters', () => {
  const rule = (more: Partial<PathRule>) => ({
    'kv/data/*': {
      capabilities: ['read' as const, 'update' as const, 'patch' as const, 'delete' as const],
      ...more,
    },
  });
  const required = rule({ required_parameters: ['a'] });
  const only = rule({ allowed_parameters: { a: [1] } });
  const not = rule({ denied_parameters: { b: [] } });
  const wrapped = rule({ min_wrapping_ttl: 60, max_wrapping_ttl: 300 });
  test.each<
    [Parameters<AccessForTest['policy']>[1], string, Record<string, Json>, number | undefined, boolean]
  >([
    [rule({}), 'POST kv/data/x', {}, undefined, true],
    [required, 'POST kv/data/x', {}, undefined, false],
    [required, 'POST kv/data/x', { a: 1 }, undefined, true],
    [required, 'PATCH kv/data/x', {}, undefined, false],
    [required, 'GET kv/data/x', {}, undefined, false],
    [required, 'DELETE kv/data/x', {}, undefined, true],
    [only, 'POST kv/data/x', { a: 1 }, undefined, true],
    [only, 'POST kv/data/x', { a: 2 }, undefined, false],
    [only, 'POST kv/data/x', { b: 1 }, undefined, false],
    [not, 'POST kv/data/x', { a: 1 }, undefined, true],
    [not, 'POST kv/data/x', { b: 1 }, undefined, false],
    [not, 'DELETE kv/data/x', { b: 1 }, undefined, true],
    [wrapped, 'GET kv/data/x', {}, undefined, false],
    [wrapped, 'GET kv/data/x', {}, 60, true],
    [wrapped, 'GET kv/data/x', {}, 301, false],
    [wrapped, 'DELETE kv/data/x', {}, 59, false],
  ])('%j: %s of %j, wrapped for %s seconds: %s', async (policy, request, body, wrapSeconds, fulfilled) => {
    const decision = await access.decide(request, { token: await access.tokenWith(policy) });
    if (!decision.allowed) throw decision.problem;
    const { conditions, path } = decision;
    const parameters = { path, body, query: [], isRead: request.startsWith('GET') };
    expect(conditions === undefined || meetsConditions(conditions, { parameters, wrapSeconds })).toBe(
      fulfilled,
    );
  });
});

describe('the policies of a token', () => {
  test('apply together, and the built-in one until an operator overwrites it', async () => {
    await access.policy('reader', 'kv/data/* read');
    const token = await access.token({ policies: ['reader', 'default', 'not-written'] });
    const verdicts = async () => [
      await access.verdict('GET kv/data/a', { token }),
      await access.verdict('GET auth/token/lookup-self', { token }),
      await access.verdict('GET kv/metadata/only', { token }),
    ];
    expect(await verdicts()).toEqual([allowed, allowed, denied]);
    await access.policy('default', 'kv/metadata/only read');
    expect(await verdicts()).toEqual([allowed, denied, allowed]);
  });

  test('apply to the next request after a change', async () => {
    const token = await access.token({ policies: ['changing'] });
    const authenticator = access.newAuthenticator();
    const verdict = () => access.verdict('GET kv/data/a', { token }, authenticator);
    expect(await verdict()).toBe(denied);
    await access.policy('changing', 'kv/data/a read');
    expect(await verdict()).toBe(allowed);
    await access.policy('changing', 'kv/data/a deny');
    expect(await verdict()).toBe(denied);
  });

  test.each([
    ['5001 paths', 2_501, (n: number) => `kv/data/${n}`],
    ['502 paths with +', 251, (n: number) => `kv/+/${n}`],
  ])('are refused with the reason, and not read, if they have %s', async (_what, half, pathOf) => {
    const rulesFrom = (first: number) =>
      Array.from({ length: half }, (_, n) => `${pathOf(first + n)} read`).join('; ');
    await access.policy('large-a', rulesFrom(0));
    await access.policy('large-b', rulesFrom(half));
    const authenticator = access.newAuthenticator();
    const token = await access.token({ policies: ['large-a', 'large-b'] });
    access.statements = [];
    for (const _time of [1, 2])
      expect(await access.verdict(`GET ${pathOf(1)}`, { token }, authenticator)).toMatch(
        new RegExp(`^forbidden: the policies of this token and its identity have ${half * 2} paths together`),
      );
    expect(access.count('from login.policies')).toBe(1);
    await access.policy('large-b', '');
    const path = pathOf(1).replace('+', 'x');
    expect(await access.verdict(`GET ${path}`, { token }, authenticator)).toBe(allowed);
  });
});

describe('without a token', () => {
  test.each([
    ['GET sys/health', allowed],
    ['GET sys/internal/specs/openapi', allowed],
    ['GET identity/oidc/plugins/.well-known/keys', allowed],
    ['POST auth/cloudB/login', allowed],
    ['POST team/auth/cloudB/login', allowed],
    ['POST auth/unknown/login', denied],
    ['POST nowhere/auth/cloudB/login', denied],
    ['POST team/inner/auth/cloudB/login', denied],
    ['POST auth/cloudB/role/login', denied],
    ['GET auth/cloudB/login', denied],
    ['POST sys/health', denied],
    ['GET sys/health/x', denied],
    ['GET identity/oidc/plugins/.well-known/a/b', denied],
    ['GET sys/internal/ui/mounts', allowed],
    ['LIST sys/internal/ui/mounts', denied],
    ['POST sys/internal/ui/mounts', denied],
    ['GET sys/internal/ui/mounts/kv/a', denied],
    ['GET kv/data/a', denied],
  ])('%s is %s', async (request, verdict) => {
    expect(await access.verdict(request)).toBe(verdict);
  });

  test('a login has no grants, whatever token it comes with', async () => {
    const decision = await access.decide('POST auth/cloudB/login', { token: 'rubbish' });
    expect(decision).toMatchObject({
      allowed: true,
      caller: { accessor: null, grants: [], policies: [], newestChange: expect.stringMatching(/^\d+ /) },
    });
  });

  test('where a token is optional, one that comes along must be valid', async () => {
    const request = 'GET sys/internal/ui/mounts';
    expect(await access.decide(request)).toMatchObject({
      allowed: true,
      caller: { tokenType: null, grants: [] },
    });
    expect(await access.verdict(request, { token: 'rubbish' })).toBe(denied);
    const token = await access.tokenWith('kv/data/* create');
    expect(await access.decide(request, { token })).toMatchObject({
      allowed: true,
      caller: { tokenType: 'service' },
    });
  });

  test('a path that only looks like a login needs a token and its policies', async () => {
    const token = await access.tokenWith('auth/cloudB/role/* create');
    const decision = await access.decide('POST auth/cloudB/role/login', { token });
    expect(decision).toMatchObject({ allowed: true, caller: { grants: ['create'] } });
    const other = await access.tokenWith('kv/data/* create');
    expect(await access.verdict('POST auth/cloudB/role/login', { token: other })).toBe(denied);
  });
});

describe('whatever the policies say, any token', () => {
  specify(
    ['', 'GET sys/internal/ui/mounts/kv/a', allowed],
    ['', 'DELETE sys/internal/ui/mounts/kv/a', denied],
    ['sys/* deny', 'GET sys/internal/ui/mounts/kv/a', allowed],
  );
});
