import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createPolicyReader } from '../src/policies/store/policy-reader.ts';
import { rowGuard } from '../src/rows/row-guard.ts';
import { incrementEpoch, insertToken } from '../src/testing.ts';
import { type AccessForTest, allowed, denied, openAccessForTest } from './access-for-test.ts';

let access: AccessForTest;
let entityId: string;
let token: string;

/** Returns a token of the entity. */
async function tokenOf(entity: string, over: Parameters<AccessForTest['token']>[0]): Promise<string> {
  const { token: text, accessor } = await insertToken(access.db, over);
  await access.db.query('update login.tokens set entity_id = $2::uuid where accessor = $1', [
    accessor,
    entity,
  ]);
  return text;
}
const change = async (text: string, params: unknown[] = []) => {
  await access.db.query(text, params);
  await incrementEpoch(access.db);
};
const on = (name: string) => `GET kv/data/${name}/a`;

beforeAll(async () => {
  access = await openAccessForTest();
  const [entity] = await access.db.query<{ id: string }>(
    `insert into login.entities (namespace_id, name, metadata) values ('root', 'ann', '{"team":"blue"}') returning id`,
  );
  entityId = entity!.id;
  await access.db.query(
    `insert into login.entity_aliases (mount_id, name, entity_id, groups)
     select id, 'principal-1', $1::uuid, '{g}' from login.auth_mounts where accessor = 'a1'`,
    [entityId],
  );
  const values = [
    'entity.id',
    'entity.name',
    'entity.metadata.team',
    'entity.aliases.a1.name',
    'groups.names.ops.metadata.site',
  ];
  await access.policy(
    'own',
    `${values.map((value) => `kv/data/{{identity.${value}}}/* read`).join('; ')}; kv/metadata/+ read`,
  );
  token = await tokenOf(entityId, { policies: ['own'] });
});
afterAll(() => access.db.close());

describe('policies with templates', () => {
  test.each([
    ['entity ID', allowed],
    ['ann', allowed],
    ['blue', allowed],
    ['principal-1', allowed],
    ['bob', denied],
    ['red', denied],
    ['north', denied],
    ['{{identity.entity.id}}', denied],
    ['+', denied],
  ])('grant a token the paths of its own entity: kv/data/%s/a is %s', async (name, verdict) => {
    expect(await access.verdict(on(name === 'entity ID' ? entityId : name), { token })).toBe(verdict);
  });

  test('follow every change of the entity, its aliases and groups from the next request on', async () => {
    const authenticator = access.newAuthenticator();
    const verdicts = async () => {
      const of = (name: string) => access.verdict(on(name), { token }, authenticator);
      const names = ['ann', 'bob', 'blue', 'red', 'north'];
      const granted = await Promise.all(names.map(of));
      return names.filter((_, at) => granted[at] === allowed);
    };
    expect(await verdicts()).toEqual(['ann', 'blue']);
    await change(`update login.entities set name = 'bob', metadata = '{"team":"red"}' where id = $1`, [
      entityId,
    ]);
    expect(await verdicts()).toEqual(['bob', 'red']);
    await change(`with g as (
        insert into login.groups (namespace_id, name, metadata) values ('root', 'ops', '{"site":"north"}') returning id
      ) insert into login.group_aliases (mount_id, name, group_id)
      select m.id, 'g', g.id from g, login.auth_mounts m where m.accessor = 'a1'`);
    expect(await verdicts()).toEqual(['bob', 'red', 'north']);
    await change("update login.entity_aliases set groups = '{}'");
    expect(await verdicts()).toEqual(['bob', 'red']);
    await change('update login.entities set name = \'ann\', metadata = \'{"team":"blue"}\'');
  });

  test('grant nothing to a token without an entity, or with one of another namespace', async () => {
    const without = await access.token({ policies: ['own'] });
    expect(await access.verdict(on('ann'), { token: without })).toBe(denied);
    expect(await access.verdict('GET kv/metadata/a', { token: without })).toBe(allowed);
    await access.policy('own', 'kv/data/{{identity.entity.name}}/* read', 'n1');
    const inner = await tokenOf(entityId, { policies: ['own'], namespaceId: 'n1' });
    expect(await access.verdict(on('ann'), { token: inner, namespace: 'team' })).toBe(denied);
  });

  test('apply to batch tokens', async () => {
    const batch = access.batchToken({ policies: ['own'], entity_id: entityId });
    expect(await access.verdict(on('ann'), { token: batch })).toBe(allowed);
    expect(await access.verdict(on('bob'), { token: batch })).toBe(denied);
  });

  test('need one more statement, once; others need none', async () => {
    const authenticator = access.newAuthenticator();
    const plain = await access.tokenWith('kv/data/* read');
    access.statements = [];
    for (let call = 0; call < 3; call++) await access.verdict(on('ann'), { token: plain }, authenticator);
    expect(access.count('en.metadata')).toBe(0);
    for (let call = 0; call < 3; call++) await access.verdict(on('ann'), { token }, authenticator);
    expect(access.count('en.metadata')).toBe(1);
  });
});

describe('the policies of an entity', () => {
  const cases: [policies: string[], disabled: boolean, verdict: string][] = [
    [['reader'], false, allowed],
    [['not-written'], false, denied],
    [['reader', 'denying'], false, denied],
    [['root'], false, denied],
    [['reader'], true, denied],
    [Array.from({ length: 51 }, (_, n) => (n === 0 ? 'reader' : `p${n}`)), false, denied],
  ];
  test.each(cases)('%j apply to its tokens; disabled: %s: %s', async (policies, disabled, verdict) => {
    await access.policy('reader', 'kv/data/* read');
    await access.policy('denying', 'kv/data/* deny');
    const [entity] = await access.db.query<{ id: string }>(
      `insert into login.entities (namespace_id, policies, disabled) values ('root', $1::text[], $2) returning id`,
      [policies, disabled],
    );
    const own = await tokenOf(entity!.id, { policies: [] });
    expect(await access.verdict('GET kv/data/a', { token: own })).toBe(verdict);
  });
});

describe('policies on a path other than the one of the request', () => {
  const mayRead = async (path: string, ...[over]: [Parameters<AccessForTest['decide']>[1], object?]) => {
    const { caller } = await access.decide('GET kv/metadata/a', over);
    return createPolicyReader({ db: access.db, rows: rowGuard(undefined) }).mayRead(caller, path);
  };

  test('are those of the token, its identity and its templates', async () => {
    const reader = await access.tokenWith('kv/data/* read');
    expect(await mayRead('kv/data/other', { token: reader })).toBe(true);
    expect(await mayRead('kv/metadata/other', { token: reader })).toBe(false);
    expect(await mayRead('anything', { token: await access.token() })).toBe(true);
    expect(await mayRead('kv/data/ann/a', { token })).toBe(true);
    expect(await mayRead('kv/data/bob/a', { token })).toBe(false);
    await access.policy('member', 'kv/data/* read');
    const { caller } = await access.decide('GET kv/data/a', { token: reader });
    const member = { ...caller, policies: [], identityPolicies: ['member'] };
    expect(
      await createPolicyReader({ db: access.db, rows: rowGuard(undefined) }).mayRead(member, 'kv/data/other'),
    ).toBe(true);
  });

  test('are not evaluated if they are too large together', async () => {
    const rules = (from: number) =>
      Array.from({ length: 1_800 }, (_, n) => `kv/data/${from + n} read`).join('; ');
    const names = ['large0', 'large1', 'large2'];
    for (const [index, name] of names.entries()) await access.policy(name, rules(index * 10_000));
    const { caller } = await access.decide('GET kv/data/a', { token: await access.token() });
    const reader = createPolicyReader({ db: access.db, rows: rowGuard(undefined) });
    const reads = (policies: string[]) => reader.mayRead({ ...caller, policies }, 'kv/data/10001');
    expect(await reads(names.slice(0, 2))).toBe(true);
    await expect(reads(names)).rejects.toMatchObject({
      kind: 'forbidden',
      message: expect.stringMatching(/have 5400 paths together/),
    });
    expect(await reads([...names, 'root'])).toBe(true);
  });
});
