import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { logAliasesInOtherCase } from '../../src/identities/named.ts';
import { oid, useCloudB } from '../login-for-test.ts';

const { cloudB, login } = useCloudB();
let accessor: string;

beforeAll(async () => {
  accessor = (await login.call('GET', '/sys/auth/cloudB')).body.data.accessor;
  const policyOf = (capability: string) =>
    JSON.stringify({ path: { 'kv/data/mine': { capabilities: [capability] } } });
  await login.call('POST', '/sys/policies/acl/reading', { policy: policyOf('read') });
  await login.call('POST', '/sys/policies/acl/denying', { policy: policyOf('deny') });
  await cloudB.writeRole('web', {
    bound_service_principal_ids: oid.toUpperCase(),
    token_policies: 'reading',
  });
  await cloudB.writeRole('batch', {
    bound_service_principal_ids: oid,
    token_type: 'batch',
    token_policies: 'reading',
  });
});
beforeEach(() => login.db.query('delete from login.entities'));

const base = '/identity/entity';
const post = (path: string, body: object) => login.call('POST', path, body);
const made = async (body: object): Promise<string> => (await post(base, body)).body.data.id;
const alias = (name: string, canonical_id: string) => ({ name, mount_accessor: accessor, canonical_id });
const upper = oid.toUpperCase();

describe('an alias in another letter case than the directory writes it', () => {
  test.each(['web', 'batch'])('is that of the identity: %s', async (role) => {
    const id = await made({ name: 'exported', policies: 'denying' });
    expect((await post('/identity/entity-alias', alias(upper, id))).status).toBe(200);
    const { auth } = (await cloudB.logInWith({}, role)).body;
    expect(auth).toMatchObject({ entity_id: id, identity_policies: ['denying'] });
    expect(await login.isAllowed(auth.client_token, 'kv/data/mine')).toBe(false);
    await post(`${base}/id/${id}`, { disabled: true });
    expect((await cloudB.logInWith({}, role)).status).toBe(403);
  });

  test('is shown as it was given, found in any, and refused if another entity has it', async () => {
    const [id, other] = [await made({ name: 'one' }), await made({ name: 'other' })];
    await post('/identity/entity-alias', alias(upper, id));
    const nameOf = async () => (await login.call('GET', `/identity/entity-alias/id/${id}`)).body.data.name;
    expect(await nameOf()).toBe(upper);
    const lookUp = { alias_name: oid, alias_mount_accessor: accessor };
    expect((await post('/identity/lookup/entity', lookUp)).body.data).toMatchObject({ id });
    expect((await post('/identity/entity-alias', alias(oid, other))).status).toBe(409);
    await cloudB.logInWith({});
    const change = { id, ...alias(oid, id.toUpperCase()) };
    expect((await post('/identity/entity-alias', change)).status).toBe(200);
    expect(await nameOf()).toBe(oid);
  });

  test('is that of a group, shown as it was given', async () => {
    const group = (await post('/identity/group', { name: 'shown' })).body.data.id;
    const { id } = (await post('/identity/group-alias', alias('ABC', group))).body.data;
    expect((await login.call('GET', `/identity/group-alias/id/${id}`)).body.data.name).toBe('ABC');
    expect((await post('/identity/group-alias', alias('abc', group))).body.data.id).toBe(id);
  });
});

describe('aliases that differ only in letter case, from an earlier version', () => {
  let [newest, older]: string[] = [];
  beforeEach(async () => {
    newest = (await cloudB.logInWith({})).body.auth.entity_id;
    older = await made({ name: 'older' });
    await login.db.transaction(async (tx) => {
      await tx.query('alter table login.entity_aliases disable trigger fold_alias');
      await tx.query(
        'insert into login.entity_aliases (mount_id, name, entity_id) select mount_id, $1, $2 from login.entity_aliases where entity_id = $3',
        [upper, older, newest],
      );
      await tx.query('alter table login.entity_aliases enable trigger fold_alias');
    });
  });

  test.each(['web', 'batch'])('restrict the identity together, at once: %s', async (role) => {
    const { auth } = (await cloudB.logInWith({}, role)).body;
    expect(auth.entity_id).toBe(newest);
    expect(await login.isAllowed(auth.client_token, 'kv/data/mine')).toBe(true);
    await post(`${base}/id/${older}`, { policies: 'denying' });
    expect(await login.isAllowed(auth.client_token, 'kv/data/mine')).toBe(false);
    expect((await cloudB.logInWith({}, role)).body.auth.identity_policies).toEqual(['denying']);
    await post(`${base}/id/${older}`, { disabled: true });
    expect(await login.isAccepted(auth.client_token)).toBe(false);
    const refused = await cloudB.logInWith({}, role);
    expect([refused.status, refused.body.errors[0]]).toEqual([403, expect.stringContaining('disabled')]);
    await login.call('DELETE', `${base}/id/${newest}`);
    expect((await cloudB.logInWith({}, role)).status).toBe(403);
    await login.call('DELETE', `${base}/id/${older}`);
    expect((await cloudB.logInWith({}, role)).status).toBe(200);
  });

  test('are named in the list of aliases, and in the log at the start', async () => {
    await logAliasesInOtherCase(login.db, login.log);
    expect(login.logged()).toContain(older);
    const { warnings } = (await login.call('LIST', '/identity/entity-alias/id')).body;
    expect(warnings).toEqual([expect.stringMatching(new RegExp(`${upper}.*${older}.*letter case`))]);
  });
});

describe.each(['entity', 'group'])('the name of a(n) %s', (kind) => {
  const at = (name: string) => `/identity/${kind}/name/${encodeURIComponent(name)}`;
  const table = kind === 'entity' ? 'entities' : 'groups';
  beforeEach(() => login.db.query(`delete from login.${table}`));

  test('is shown as it was given, and names the same in another letter case', async () => {
    const { id } = (await post(at('Bob-Ä'), {})).body.data;
    expect((await post(at('bob-ä'), {})).body.data).toEqual({
      id,
      name: 'Bob-Ä',
    });
    expect((await post(`/identity/${kind}`, { name: 'BOB-Ä' })).body.data).toEqual({ id, name: 'BOB-Ä' });
    expect((await login.call('GET', at('bob-ä'))).body.data).toMatchObject({ id, name: 'BOB-Ä' });
    expect((await post(`/identity/lookup/${kind}`, { name: 'bob-Ä' })).body.data).toMatchObject({ id });
    const other = (await post(at('other'), {})).body.data.id;
    expect((await post(`/identity/${kind}/id/${other}`, { name: 'boB-ä' })).status).toBe(409);
    expect((await login.call('DELETE', at('bob-ä'))).status).toBe(204);
    expect((await login.call('GET', at('BOB-Ä'))).status).toBe(404);
  });

  test('is listed if an earlier version accepted it twice, and has to be written exactly', async () => {
    await login.db.query(
      `insert into login.${table} (namespace_id, name) values ('root', 'Ann'), ('root', 'ann')`,
    );
    expect((await login.call('LIST', `/identity/${kind}/name`)).body.warnings).toEqual([
      expect.stringMatching(/Ann, ann.*letter case/),
    ]);
    expect((await login.call('GET', at('Ann'))).body.data.name).toBe('Ann');
    for (const [method, body] of [['POST', {}], ['GET'], ['DELETE']] as const)
      expect((await login.call(method, at('ANN'), body)).status).toBe(409);
  });

  test('is given to one of several that are created at once', async () => {
    const names = ['carl', 'Carl', 'CARL', 'cARL'];
    await Promise.all(names.map((name) => post(at(name), {})));
    const rows = await login.db.query(`select 1 from login.${table} where lower(name) = 'carl'`);
    expect(rows).toHaveLength(1);
  });
});

test('a capability on a name in a path applies to each spelling of it', async () => {
  const rules = { 'identity/group/name/*': ['read'], 'identity/group/name/Ops': ['deny'] };
  const path = Object.fromEntries(Object.entries(rules).map(([name, of]) => [name, { capabilities: of }]));
  await login.call('POST', '/sys/policies/acl/but-ops', { policy: JSON.stringify({ path }) });
  const paths = ['identity/group/name/ops', 'identity/group/name/Dev'];
  const caller = testCaller({ policies: ['but-ops'] });
  const { data } = (await login.call('POST', '/sys/capabilities-self', { paths }, caller)).body;
  expect(paths.map((name) => data[name])).toEqual([['deny'], ['read']]);
});
