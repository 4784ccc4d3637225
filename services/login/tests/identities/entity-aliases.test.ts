import { beforeAll, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { oid, useCloudB } from '../login-for-test.ts';

const { cloudB, login } = useCloudB();
let accessor: string;

beforeAll(async () => {
  accessor = (await login.call('GET', '/sys/auth/cloudB')).body.data.accessor;
  const policy = JSON.stringify({ path: { 'kv/data/mine': { capabilities: ['read'] } } });
  await login.call('POST', '/sys/policies/acl/mine', { policy });
});

const base = '/identity/entity';
const post = (path: string, body: object, caller = login.root) => login.call('POST', path, body, caller);
const createEntity = async (body: object): Promise<string> => (await post(base, body)).body.data.id;
const alias = (name: string, canonical_id: string) => ({ name, mount_accessor: accessor, canonical_id });

describe('an entity that a request creates', () => {
  test('is read, updated by its name or ID, and deleted', async () => {
    const id = await createEntity({ name: 'made', policies: 'mine', metadata: { a: 'b' } });
    expect((await post(base, { id, metadata: { c: 'd' } })).body.data).toEqual({ id, name: 'made' });
    expect((await post(base, { name: 'made', disabled: true })).body.data).toEqual({ id, name: 'made' });
    expect((await post(`${base}/name/made`, { disabled: false })).body.data).toEqual({ id, name: 'made' });
    const { data } = (await login.call('GET', `${base}/name/made`)).body;
    expect(data).toMatchObject({
      id,
      policies: ['mine'],
      metadata: { c: 'd' },
      disabled: false,
      aliases: [],
    });
    expect((await login.call('DELETE', `${base}/id/${id}`)).status).toBe(204);
    expect((await login.call('GET', `${base}/name/made`)).status).toBe(404);
  });

  test.each<[object, number, RegExp]>([
    [{ name: `entity_${oid}` }, 400, /is the name of another entity/],
    [{ name: 'new', policies: 'root' }, 400, /must not contain root/],
  ])('is not %j', async (body, status, sentence) => {
    const refused = await post(base, body);
    expect([refused.status, refused.body.errors]).toEqual([status, [expect.stringMatching(sentence)]]);
  });

  test('has a generated name if none is given', async () => {
    const { id, name } = (await post(base, { metadata: {} })).body.data;
    expect(name).toBe(`entity_${id}`);
    expect((await login.call('GET', `${base}/name/${name}`)).body.data).toMatchObject({ id, name });
    await login.call('DELETE', `${base}/id/${id}`);
  });

  test('needs create, and sudo for policies that its author does not have', async () => {
    const author = testCaller({ policies: ['mine'], grants: ['create'] });
    expect((await post(base, { name: 'by-author', policies: 'mine' }, author)).status).toBe(200);
    expect((await post(base, { name: 'by-author' }, author)).status).toBe(403);
    expect((await post(base, { name: 'beyond', policies: 'other' }, author)).status).toBe(400);
  });

  test('is listed by name, chosen names first', async () => {
    const made = await createEntity({ name: 'a-listed' });
    const { entity_id: known } = (await cloudB.logInWith({})).body.auth;
    const list = async (query = '') => (await login.call('LIST', `${base}/name${query}`)).body.data.keys;
    const names = await list();
    expect(names[0]).toBe('a-listed');
    expect(names.at(-1)).toBe(`entity_${known}`);
    const pages: string[] = [];
    while (pages.at(-1) !== names.at(-1)) {
      const after = pages.length === 0 ? '' : `&after=${pages.at(-1)}`;
      pages.push(...(await list(`?limit=1${after}`)));
    }
    expect(pages).toEqual(names);
    await login.call('DELETE', `${base}/id/${made}`);
  });
});

describe('the alias of an entity', () => {
  test('assigns an identity to it before the first login', async () => {
    const early = oid.replaceAll('1', '3');
    await cloudB.writeRole('early', { bound_service_principal_ids: early });
    const id = await createEntity({ name: 'early', policies: 'mine' });
    expect((await post(`${base}-alias`, alias(early, id))).body.data).toEqual({ id, canonical_id: id });
    const { auth } = (await cloudB.logInWith({ oid: early }, 'early')).body;
    expect(auth).toMatchObject({ entity_id: id, identity_policies: ['mine'] });
    expect(await login.isAllowed(auth.client_token, 'kv/data/mine')).toBe(true);
    expect((await login.call('LIST', `${base}-alias/id`)).body.data.keys).toContain(id);
  });

  test('is renamed, deleted, and then free for another entity', async () => {
    const [one, other] = [await createEntity({ name: 'one' }), await createEntity({ name: 'other' })];
    await post(`${base}-alias`, alias('first-name', one));
    await post(`${base}-alias/id/${one}`, { name: 'second-name' });
    expect((await login.call('GET', `${base}-alias/id/${one}`)).body.data).toMatchObject({
      name: 'second-name',
    });
    expect((await post(`${base}-alias`, alias('second-name', other))).body.errors).toEqual([
      'the alias is that of another entity',
    ]);
    expect((await post(`${base}-alias`, alias('third-name', one))).body.errors).toEqual([
      'the entity has another alias',
    ]);
    expect((await login.call('DELETE', `${base}-alias/id/${one}`)).status).toBe(204);
    expect((await login.call('GET', `${base}-alias/id/${one}`)).status).toBe(404);
    expect((await login.call('GET', `${base}/id/${one}`)).body.data.aliases).toEqual([]);
    expect((await post(`${base}-alias`, alias('second-name', other))).status).toBe(200);
  });

  test('keeps its custom metadata until a request names another one, also under another name', async () => {
    const id = await createEntity({ name: 'described' });
    const shown = async () => {
      const { data } = (await login.call('GET', `${base}-alias/id/${id}`)).body;
      expect((await login.call('GET', `${base}/id/${id}`)).body.data.aliases).toMatchObject([data]);
      return data.custom_metadata;
    };
    await post(`${base}-alias`, { ...alias('described', id), custom_metadata: ['team=QA'] });
    expect(await shown()).toEqual({ team: 'QA' });
    await post(`${base}-alias`, alias('Described', id));
    await post(`${base}-alias/id/${id}`, { name: 'renamed' });
    expect(await shown()).toEqual({ team: 'QA' });
    await post(`${base}-alias/id/${id}`, { custom_metadata: { a: 'b' } });
    expect(await shown()).toEqual({ a: 'b' });
    await post(`${base}-alias/id/${id}`, { custom_metadata: {} });
    expect(await shown()).toEqual({});
  });

  test('may name its entity by the older name of the field', async () => {
    const { id } = (await login.call('POST', '/identity/entity', { name: 'older' })).body.data;
    const alias = { name: 'older', mount_accessor: accessor, entity_id: id };
    const { status, body } = await login.call('POST', '/identity/entity-alias', alias);
    expect([status, body.data, body.warnings]).toEqual([200, { id, canonical_id: id }, null]);
    await login.call('DELETE', `/identity/entity/id/${id}`);
  });

  test('needs sudo for an entity with policies that its author does not have', async () => {
    const id = await createEntity({ name: 'powerful', policies: 'ops' });
    const author = testCaller({ policies: ['mine'], grants: ['create', 'update'] });
    const refused = await post(`${base}-alias`, alias('someone', id), author);
    expect([refused.status, refused.body.errors]).toEqual([400, [expect.stringMatching(/sudo: ops/)]]);
  });

  test.each<[object, number]>([
    [{ name: 'x', mount_accessor: 'auth_none', canonical_id: oid }, 400],
    [{ name: 'x' }, 400],
    [{ id: oid, name: 'x' }, 404],
  ])('is not %j', async (body, status) => {
    expect((await post(`${base}-alias`, body)).status).toBe(status);
  });
});

describe('a lookup', () => {
  test('finds an entity by ID, name, and alias', async () => {
    const { entity_id: id } = (await cloudB.logInWith({})).body.auth;
    const lookUp = (body: object) => post('/identity/lookup/entity', body);
    for (const by of [
      { id },
      { name: `entity_${id}` },
      { alias_id: id },
      { alias_name: oid, alias_mount_accessor: accessor },
    ])
      expect((await lookUp(by)).body.data).toMatchObject({ id, aliases: [{ name: oid }] });
    for (const by of [{ id: oid }, { name: 'none' }, { alias_name: 'none', alias_mount_accessor: accessor }])
      expect((await lookUp(by)).status).toBe(204);
    for (const by of [{}, { id, name: 'x' }, { alias_name: oid }])
      expect((await lookUp(by)).status).toBe(400);
  });

  test('finds a group by ID, name, and alias', async () => {
    const { id } = (await post('/identity/group', { name: 'team' })).body.data;
    const alias_id = (await post('/identity/group-alias', alias('G1', id))).body.data.id;
    for (const by of [
      { id },
      { name: 'team' },
      { alias_id },
      { alias_name: 'G1', alias_mount_accessor: accessor },
    ])
      expect((await post('/identity/lookup/group', by)).body.data).toMatchObject({ id, name: 'team' });
    expect((await post('/identity/lookup/group', { name: 'none' })).status).toBe(204);
  });
});
