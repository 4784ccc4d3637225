import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { createIn, group, oid, useCloudB } from '../login-for-test.ts';

const { cloudB, login } = useCloudB();
let accessor: string;
let entityId: string;
let path: string;

beforeAll(async () => {
  accessor = (await login.call('GET', '/sys/auth/cloudB')).body.data.accessor;
  await cloudB.writeRole('batch', { bound_service_principal_ids: oid, token_type: 'batch', policies: 'dev' });
  await cloudB.writeRole('any', { bound_group_ids: group });
  const policy = JSON.stringify({ path: { 'kv/data/mine': { capabilities: ['read'] } } });
  await login.call('POST', '/sys/policies/acl/mine', { policy });
});
beforeEach(async () => {
  entityId = (await cloudB.logInWith({})).body.auth.entity_id;
  path = `/identity/entity/id/${entityId}`;
});

const read = async (at = path) => (await login.call('GET', at)).body.data;
const update = (body: object, at = path) => login.call('POST', at, body);

test.each(['entity', 'group'])('metadata may be written as pairs: %s', async (kind) => {
  for (const metadata of ['team=QA', ['team=QA']]) {
    const name = `pairs-${typeof metadata}`;
    const { id } = (await login.call('POST', `/identity/${kind}`, { name, metadata })).body.data;
    expect((await read(`/identity/${kind}/id/${id}`)).metadata).toEqual({ team: 'QA' });
    await login.call('DELETE', `/identity/${kind}/id/${id}`);
  }
});

describe('an entity', () => {
  test('is that of a mount and a principal, across logins', async () => {
    expect(await read()).toEqual({
      id: entityId,
      name: `entity_${entityId}`,
      policies: [],
      metadata: {},
      disabled: false,
      aliases: [
        {
          id: entityId,
          name: oid,
          canonical_id: entityId,
          mount_accessor: accessor,
          mount_path: 'auth/cloudB/',
          mount_type: 'cloudB',
          namespace_id: 'root',
          metadata: {},
          custom_metadata: {},
          local: false,
          merged_from_canonical_ids: [],
        },
      ],
      group_ids: [],
      direct_group_ids: [],
      inherited_group_ids: [],
      merged_entity_ids: [],
      namespace_id: 'root',
      creation_time: expect.any(String),
      last_update_time: expect.any(String),
    });
    expect(await read(`/identity/entity/name/entity_${entityId}`)).toMatchObject({ id: entityId });
    expect((await cloudB.logInWith({}, 'batch')).body.auth.entity_id).toBe(entityId);
  });

  test('shows the groups that it belongs to', async () => {
    const { id } = (await login.call('POST', '/identity/group', { name: 'team' })).body.data;
    await login.call('POST', '/identity/group-alias', {
      name: group,
      mount_accessor: accessor,
      canonical_id: id,
    });
    await cloudB.logInWith({ groups: [group] });
    expect(await read()).toMatchObject({ group_ids: [id], direct_group_ids: [id] });
    await login.call('DELETE', `/identity/group/id/${id}`);
    expect(await read()).toMatchObject({ group_ids: [] });
  });

  test('is updated, and keeps what a change omits', async () => {
    await update({ name: 'web', metadata: { team: 'x' } });
    await update({ policies: 'mine' }, '/identity/entity/name/web');
    expect(await read('/identity/entity/name/web')).toMatchObject({
      id: entityId,
      name: 'web',
      metadata: { team: 'x' },
      policies: ['mine'],
    });
    expect((await login.call('GET', `/identity/entity/name/entity_${entityId}`)).status).toBe(404);
    await update({ name: `entity_${entityId}x`, policies: [], metadata: {} });
  });

  test.each([
    [{ policies: 'root' }, 400, 'policies: must not contain root'],
    [{ name: `entity_${oid}` }, 400, 'name: entity_ and an ID is the name of another entity'],
    [{ name: 'taken' }, 409, 'an entity of this name exists'],
  ])('is not updated with %j', async (body, status, sentence) => {
    const other = { oid: oid.replaceAll('1', '7'), groups: [group] };
    const { entity_id: otherId } = (await cloudB.logInWith(other, 'any')).body.auth;
    await update({ name: 'taken' }, `/identity/entity/id/${otherId}`);
    const refused = await update(body);
    expect([refused.status, refused.body.errors]).toEqual([status, [sentence]]);
  });

  test('may be written by its name with its own ID, and not with that of another one', async () => {
    const { id } = (await login.call('POST', '/identity/entity', { name: 'own' })).body.data;
    const write = (given: string) => login.call('POST', '/identity/entity/name/own', { id: given });
    expect((await write(id)).body.data).toEqual({ id, name: 'own' });
    expect((await write(randomUUID())).status).toBe(400);
    await login.call('DELETE', `/identity/entity/id/${id}`);
  });

  test('is not created by a write to an ID', async () => {
    expect((await update({ metadata: {} }, `/identity/entity/id/${oid}`)).status).toBe(404);
  });

  test('can be given only policies of the own token, unless the caller has sudo', async () => {
    const caller = testCaller({ policies: ['mine'], grants: ['update'] });
    expect((await login.call('POST', path, { policies: 'mine' }, caller)).status).toBe(200);
    expect((await login.call('POST', path, { policies: 'other' }, caller)).status).toBe(400);
    await update({ policies: [] });
  });

  test.each(['web', 'batch'])(
    'gives its policies to its %s tokens, from the next request on',
    async (role) => {
      const { client_token: token } = (await cloudB.logInWith({}, role)).body.auth;
      expect(await login.isAllowed(token, 'kv/data/mine')).toBe(false);
      await update({ policies: 'mine' });
      expect(await login.isAllowed(token, 'kv/data/mine')).toBe(true);
      expect((await cloudB.logInWith({}, role)).body.auth.identity_policies).toEqual(['mine']);
      await update({ policies: [] });
      expect(await login.isAllowed(token, 'kv/data/mine')).toBe(false);
    },
  );

  test('that is disabled has no valid tokens and cannot log in, until it is enabled again', async () => {
    const response = await cloudB.logInWith({});
    const child = await createIn(login)({}, login.callerOf(response, { entityId }));
    const batch = await cloudB.logInWith({}, 'batch');
    const tokens = [response, child, batch].map(({ body }) => body.auth.client_token);
    const accepted = () => Promise.all(tokens.map((token) => login.isAccepted(token)));
    expect(await accepted()).toEqual([true, true, true]);
    await update({ disabled: true });
    expect(await accepted()).toEqual([false, false, false]);
    for (const role of ['web', 'batch'])
      expect(await cloudB.logInWith({}, role)).toMatchObject({
        status: 403,
        body: { errors: ['the entity of this identity is disabled'] },
      });
    await update({ disabled: false });
    expect(await accepted()).toEqual([true, true, true]);
  });

  test.each(['disabled', 'deleted'])('that is %s has tokens that are not found', async (how) => {
    const response = await cloudB.logInWith({});
    const { client_token: token, accessor: own } = response.body.auth;
    const { client_token: batch } = (await cloudB.logInWith({}, 'batch')).body.auth;
    const child = await createIn(login)({}, login.callerOf(response, { entityId }));
    if (how === 'disabled') await update({ disabled: true });
    else await login.call('DELETE', path);
    const paths = ['kv/x'];
    for (const body of [{ token }, { token: batch }, { token: child.body.auth.client_token }]) {
      expect((await login.call('POST', '/auth/token/lookup', body)).status).toBe(404);
      expect((await login.call('POST', '/sys/capabilities', { ...body, paths })).status).toBe(404);
    }
    for (const at of ['/auth/token/lookup-accessor', '/auth/token/renew-accessor'])
      expect((await login.call('POST', at, { accessor: own })).status).toBe(404);
    expect((await login.call('POST', '/auth/token/renew', { token })).status).toBe(404);
    const caller = login.callerOf(response, { entityId });
    expect((await login.call('GET', '/auth/token/lookup-self', undefined, caller)).status).toBe(404);
    expect((await login.call('POST', '/auth/token/create', {}, caller)).status).toBe(403);
    await update({ disabled: false });
  });

  test('that is disabled has tokens that can be revoked, which is still so when it is enabled', async () => {
    const tokens = [await cloudB.logInWith({}), await cloudB.logInWith({})].map(({ body }) => body.auth);
    await update({ disabled: true });
    const byAccessor = { accessor: tokens[0].accessor };
    const byToken = { token: tokens[1].client_token };
    expect((await login.call('POST', '/auth/token/revoke-accessor', byAccessor)).status).toBe(204);
    expect((await login.call('POST', '/auth/token/revoke', byToken)).status).toBe(204);
    await update({ disabled: false });
    for (const { client_token } of tokens) expect(await login.isAccepted(client_token)).toBe(false);
  });

  test('that is deleted has no valid tokens; the next login creates another one', async () => {
    const { client_token: token } = (await cloudB.logInWith({})).body.auth;
    for (const _time of [1, 2]) expect((await login.call('DELETE', path)).status).toBe(204);
    expect(await login.isAccepted(token)).toBe(false);
    expect((await login.call('GET', path)).status).toBe(404);
    expect((await cloudB.logInWith({})).body.auth.entity_id).not.toBe(entityId);
  });
});

test('entities and their aliases are listed in pages', async () => {
  await cloudB.logInWith({ oid: oid.replaceAll('1', '5'), groups: [group] }, 'any');
  const { keys } = (await login.call('LIST', '/identity/entity/id')).body.data;
  expect(keys.length).toBeGreaterThan(1);
  const first = (await login.call('LIST', '/identity/entity/id?limit=1')).body;
  expect(first.data.keys).toEqual(keys.slice(0, 1));
  expect(first.data.key_info[keys[0]]).toMatchObject({ aliases: [{ canonical_id: keys[0] }] });
  expect(first.warnings).toHaveLength(1);
  const rest = (await login.call('LIST', `/identity/entity-alias/id?after=${keys[0]}`)).body.data;
  expect(rest.keys).toEqual(keys.slice(1));
  expect(await read(`/identity/entity-alias/id/${entityId}`)).toMatchObject({ name: oid });
});

test('entities belong to a namespace', async () => {
  const { id } = (await login.call('POST', '/sys/namespaces/team')).body.data;
  const inTeam = { ...login.root, namespace: { id, path: 'team' } };
  expect((await login.call('GET', path, undefined, inTeam)).status).toBe(404);
  expect((await login.call('LIST', '/identity/entity/id', undefined, inTeam)).status).toBe(404);
});

test('the entities of a disabled mount are not shown, even before they are deleted', async () => {
  await login.call('DELETE', '/sys/auth/cloudB');
  expect((await login.call('GET', path)).status).toBe(404);
  expect((await login.call('LIST', '/identity/entity/id')).status).toBe(404);
});
