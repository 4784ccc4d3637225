import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { anonymous } from '../login-for-test.ts';
import { type CloudBWithTable, startCloudBWithTable } from './decision/cloudb-with-table.ts';
import { machine } from './decision/row.ts';
import { machineId, subscription, systemToken } from './decision/world.ts';

interface Shown {
  check: string;
  passed: boolean;
  reached?: false;
  claim: string;
  reason?: string;
  values: Record<string, unknown>;
}

const web1 = systemToken(machineId('web-1'));
const web10 = systemToken(machineId('web-10'));
let cloudB: CloudBWithTable;

beforeAll(async () => {
  cloudB = await startCloudBWithTable();
  await cloudB.writeRole('placed', {
    bound_subscription_ids: subscription,
    bound_resource_groups: 'rg',
    bound_locations: 'West US',
  });
  await cloudB.writeRole('near', { bound_service_principal_ids: web1.oid, token_bound_cidrs: '10.0.0.0/8' });
});
afterEach(async () => {
  cloudB.sandbox.resourceManager.faults.clear();
  cloudB.sandbox.directory.faults.clear();
  await cloudB.configure(); // ends the pause after a failure
});
afterAll(() => cloudB.stop());

async function diagnose(body: object): Promise<{ admitted: boolean; checks: Shown[] }> {
  const response = await cloudB.service.call('POST', '/auth/cloudB/diagnose', body);
  expect(response.status).toBe(200);
  return response.body.data;
}
const diagnosePlaced = async (over: object = {}, token = web1) =>
  diagnose({ role: 'placed', jwt: await cloudB.jwtOf(token), ...machine('web-1'), ...over });
const failed = ({ checks }: { checks: Shown[] }) =>
  checks.filter(({ passed, reached }) => !passed && reached !== false);
const notReached = ({ checks }: { checks: Shown[] }) => checks.filter(({ reached }) => reached === false);
const reasons = (diagnosis: { checks: Shown[] }) => failed(diagnosis).map(({ reason }) => reason);

describe('a diagnosis', () => {
  test('names each check, the claim that it looked at and what the token says there', async () => {
    const { admitted, checks } = await diagnosePlaced();
    expect(admitted).toBe(true);
    expect(checks.length).toBeGreaterThan(15);
    expect(checks).toContainEqual({
      check: 'the token is of what vm_name names',
      passed: true,
      claim: 'xms_mirid',
      values: { xms_mirid: web1.xms_mirid },
    });
    expect(checks).toContainEqual(
      expect.objectContaining({ claim: 'oid, appid, azp', values: { oid: web1.oid, appid: web1.appid } }),
    );
  });

  test('makes the checks that follow one that failed', async () => {
    const diagnosis = await diagnosePlaced({ resource_group_name: 'rg-prod' });
    expect(diagnosis.admitted).toBe(false);
    expect(reasons(diagnosis)).toEqual([
      'resource_group_name is not what the token proves',
      expect.stringContaining('bound_resource_groups'),
      expect.stringContaining('is not an identity of the named'),
    ]);
  });

  test('shows why the token of another machine is refused', async () => {
    const diagnosis = await diagnosePlaced({}, web10);
    expect(reasons(diagnosis)).toEqual([
      'vm_name is not what the token proves',
      expect.stringContaining('is not an identity of the named'),
    ]);
  });

  test('agrees with a login', async () => {
    const requests = [
      machine('web-1'),
      machine('web-10'),
      machine('gone'),
      { ...machine('web-1'), vm_name: '' },
    ];
    for (const token of [web1, web10])
      for (const request of requests) {
        const body = { role: 'placed', jwt: await cloudB.jwtOf(token), ...request };
        const { status, body: response } = await cloudB.logIn(body);
        const diagnosis = await diagnose(body);
        expect(diagnosis.admitted).toBe(status === 200);
        expect(reasons(diagnosis)[0]).toBe(response.errors?.[0]);
      }
  });

  test.each([
    ['an expired token', { expiresInSeconds: -120 }, ['exp, nbf']],
    ['a token for something else', { audience: 'https://other.example' }, ['aud']],
    ['a token of another tenant', { overrides: { tid: subscription } }, ['tid']],
    ['a token of another issuer', { overrides: { iss: 'https://evil.example' } }, ['iss']],
    ['a token of another key', { wrongKey: true }, ['alg, kid']],
    ['a token of an unknown key', { kid: 'x' }, ['alg, kid']],
    ['a token without a signature', { algorithm: 'none' as const }, ['alg, kid']],
    [
      'a token without a principal',
      { overrides: { oid: null } },
      ['oid', 'oid, groups, xms_az_rid, xms_mirid'],
    ],
    [
      'a token with several faults',
      { expiresInSeconds: -120, audience: 'x', wrongKey: true },
      ['alg, kid', 'aud', 'exp, nbf'],
    ],
  ])('of %s names the claim, and goes on', async (_what, options, claims) => {
    const jwt = await cloudB.issueJwt({ ...web1, ...options });
    const request = { role: 'placed', jwt, ...machine('web-1') };
    const diagnosis = await diagnose(request);
    expect(diagnosis.admitted).toBe(false);
    expect(failed(diagnosis).map(({ claim }) => claim)).toEqual(claims);
    expect((await cloudB.logIn(request)).status).toBe(403);
  });

  test.each(['x', 'a.b.c', `${'a'.repeat(70_000)}.b.c`])(
    'of something else than a token says so',
    async (jwt) => {
      const diagnosis = await diagnose({ role: 'placed', jwt });
      expect(failed(diagnosis)).toEqual([
        expect.objectContaining({ claim: 'jwt', reason: expect.stringMatching(/^jwt: /) }),
      ]);
      expect(notReached(diagnosis).map(({ claim }) => claim)).toEqual(['alg, kid', 'jwt']);
    },
  );

  test.each(['server-error', 'reset', 'garbage'] as const)(
    'goes on if the provider fails with %s',
    async (effect) => {
      await cloudB.configure();
      cloudB.sandbox.resourceManager.faults.add({ effect });
      const diagnosis = await diagnosePlaced();
      expect(failed(diagnosis)).toEqual([expect.objectContaining({ check: "the provider's API answers" })]);
    },
  );

  test.each(['server-error', 'reset', 'garbage'] as const)(
    'goes on if the directory fails with %s',
    async (effect) => {
      await cloudB.configure();
      cloudB.sandbox.directory.faults.add({ effect });
      const diagnosis = await diagnosePlaced();
      expect(failed(diagnosis)[0]).toMatchObject({
        claim: 'alg, kid',
        reason: expect.stringContaining('directory'),
      });
    },
  );

  test('checks an address only if there is one', async () => {
    const jwt = await cloudB.jwtOf(web1);
    expect((await diagnose({ role: 'near', jwt })).admitted).toBe(true);
    expect((await diagnose({ role: 'near', jwt, remote_address: '10.1.2.3' })).admitted).toBe(true);
    const far = await diagnose({ role: 'near', jwt, remote_address: '11.1.2.3' });
    expect(reasons(far)).toEqual([expect.stringContaining('token_bound_cidrs')]);
  });

  test('names a role or a configuration that does not exist', async () => {
    const jwt = await cloudB.jwtOf(web1);
    expect(reasons(await diagnose({ role: 'gone', jwt }))).toEqual(['role: does not exist']);
    await cloudB.service.call('POST', '/sys/auth/bare', { type: 'cloudB' });
    const { body } = await cloudB.service.call('POST', '/auth/bare/diagnose', { role: 'r', jwt });
    expect(reasons(body.data)).toEqual(['this auth mount is not configured', 'role: does not exist']);
    expect((await cloudB.service.call('POST', '/auth/nowhere/diagnose', { role: 'r', jwt })).status).toBe(
      404,
    );
  });

  describe('of an identity', () => {
    const agree = async (jwt: string) => {
      const body = { role: 'plain', jwt };
      const [{ status, body: response }, diagnosis] = [await cloudB.logIn(body), await diagnose(body)];
      expect(diagnosis.admitted).toBe(status === 200);
      expect(reasons(diagnosis)).toEqual(response.errors ?? []);
      return reasons(diagnosis);
    };
    const post = async (path: string, body: object) => {
      const { status, body: response } = await cloudB.service.call('POST', path, body);
      expect(status).toBeLessThan(300);
      return response?.data;
    };
    const [silent, powerful] = [1, 2].map((n) => `cccccccc-0000-4000-8000-00000000000${n}`);
    beforeAll(() => cloudB.writeRole('plain', { bound_service_principal_ids: [web1.oid, silent, powerful] }));

    test('whose entity is disabled says so', async () => {
      const jwt = await cloudB.jwtOf(web1);
      const { entity_id } = (await cloudB.logIn({ role: 'plain', jwt })).body.auth;
      await post(`/identity/entity/id/${entity_id}`, { disabled: true });
      expect(await agree(jwt)).toEqual(['the entity of this identity is disabled']);
      await post(`/identity/entity/id/${entity_id}`, { disabled: false });
      expect(await agree(jwt)).toEqual([]);
    });

    test('whose groups are not known says so, if the mount has groups', async () => {
      const jwt = await cloudB.issueJwt({ oid: silent!, groupOverage: true });
      const { data } = (await cloudB.service.call('GET', '/sys/auth/cloudB')).body;
      const { id } = await post('/identity/group', { name: 'ops' });
      await post('/identity/group-alias', { name: 'g', mount_accessor: data.accessor, canonical_id: id });
      expect(await agree(jwt)).toEqual([
        'the login does not name the groups of this identity, and no earlier login did',
      ]);
      expect(failed(await diagnose({ role: 'plain', jwt }))).toMatchObject([
        { claim: 'groups, hasgroups, _claim_names', values: { _claim_names: { groups: 'src1' } } },
      ]);
      expect(await agree(await cloudB.issueJwt({ oid: silent! }))).toEqual([]);
      expect(await agree(jwt)).toEqual([]);
      await cloudB.service.call('DELETE', `/identity/group/id/${id}`);
    });

    test('whose policies are too many says so, also before the first login', async () => {
      const { data } = (await cloudB.service.call('GET', '/sys/auth/cloudB')).body;
      for (const name of ['one', 'other']) {
        const policies = Array.from({ length: 30 }, (_, n) => `${name}${n}`);
        const { id } = await post('/identity/group', { name, policies });
        await post('/identity/group-alias', { name, mount_accessor: data.accessor, canonical_id: id });
      }
      const jwt = await cloudB.issueJwt({ oid: powerful!, groups: ['one', 'other'] });
      expect(reasons(await diagnose({ role: 'plain', jwt }))).toEqual([
        expect.stringMatching(/^the policies of this identity and its groups exceed 50 names/),
      ]);
      expect(await agree(jwt)).toHaveLength(1);
      for (const name of ['one', 'other'])
        await cloudB.service.call('DELETE', `/identity/group/name/${name}`);
    });
  });

  test('issues and logs nothing', async () => {
    const tokens = () => cloudB.service.db.query('select 1 from login.tokens');
    const before = await tokens();
    const jwt = await cloudB.jwtOf(web1);
    const diagnosis = await diagnose({ role: 'placed', jwt, ...machine('web-1') });
    expect(await tokens()).toEqual(before);
    expect(JSON.stringify(diagnosis)).not.toContain(jwt.split('.')[2]);
    expect(cloudB.service.logged()).not.toContain(jwt.split('.')[1]);
  });

  test('needs a token', async () => {
    const body = { role: 'placed', jwt: 'x' };
    expect((await cloudB.service.call('POST', '/auth/cloudB/diagnose', body, anonymous)).status).toBe(403);
  });
});
