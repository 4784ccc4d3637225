import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type LoginForTest, startLoginForTest } from '../../login-for-test.ts';

const path = '/auth/team/azure/role';
let login: LoginForTest;

beforeAll(async () => {
  login = await startLoginForTest();
  await login.call('POST', '/sys/auth/team/azure', { type: 'cloudB' });
});
afterAll(() => login.stop());

test('an empty list of roles is not found', async () => {
  expect((await login.call('LIST', path)).status).toBe(404);
});

test('role names are case-insensitive, and a write keeps the fields that it omits', async () => {
  const body = { policies: 'a,b', bound_group_ids: 'g1, g2' };
  expect((await login.call('POST', `${path}/Web`, body)).status).toBe(204);
  expect((await login.call('PUT', `${path}/web`, { token_ttl: '1h' })).status).toBe(204);
  expect((await login.call('GET', `${path}/WEB`)).body.data).toMatchObject({
    token_policies: ['a', 'b'],
    policies: ['a', 'b'],
    bound_group_ids: ['g1', 'g2'],
    token_ttl: 3_600,
  });
});

test('a role may be called like an endpoint of its mount', async () => {
  for (const name of ['login', 'config']) {
    expect((await login.call('POST', `${path}/${name}`, { bound_group_ids: 'g' })).status).toBe(204);
    expect((await login.call('GET', `${path}/${name}`)).body.data.bound_group_ids).toEqual(['g']);
  }
  expect((await login.call('LIST', path)).body.data.keys).toEqual(['config', 'login', 'web']);
});

test('roles that do not fit on a page continue where a warning says', async () => {
  const first = (await login.call('LIST', `${path}?limit=2`)).body;
  expect(first.data.keys).toEqual(['config', 'login']);
  expect(first.warnings).toEqual([expect.stringMatching(/ after=login$/)]);
  const rest = (await login.call('LIST', `${path}?limit=2&after=login`)).body;
  expect(rest).toMatchObject({ data: { keys: ['web'] }, warnings: null });
});

test('deleting a role succeeds even if it does not exist', async () => {
  expect((await login.call('DELETE', `${path}/WEB`)).status).toBe(204);
  expect((await login.call('GET', `${path}/web`)).status).toBe(404);
  expect((await login.call('DELETE', `${path}/web`)).status).toBe(204);
});

test('a role needs create for a new one and update for an existing one', async () => {
  const creator = testCaller({ policies: ['x'], grants: ['create'] });
  const body = { bound_group_ids: 'g' };
  expect((await login.call('POST', `${path}/granted`, body, creator)).status).toBe(204);
  expect((await login.call('POST', `${path}/granted`, body, creator)).status).toBe(403);
});

test('a role without bounds is refused', async () => {
  expect((await login.call('POST', `${path}/none`, { policies: 'a' })).body.errors).toEqual([
    'must have at least one bound constraint when creating/updating a role',
  ]);
});

test('a role that admits nobody, or more than its author may expect, is stored with a warning', async () => {
  const warningsOf = async (body: object) => {
    const { status, body: response } = await login.call('POST', `${path}/some`, body);
    expect(status).toBe(200);
    return response.warnings;
  };
  expect(await warningsOf({ bound_locations: 'West US' })).toEqual([
    expect.stringMatching(/^the role admits nobody/),
  ]);
  expect(await warningsOf({ bound_resource_groups: 'rg' })).toEqual([
    expect.stringMatching(/^the role admits every managed identity .* in any subscription/),
  ]);
  const config = { tenant_id: 't', resource: 'https://r/', require_principal_binding: true };
  await login.call('POST', '/auth/team/azure/config', config);
  expect(await warningsOf({ bound_locations: [] })).toEqual([
    expect.stringMatching(/^the role admits nobody: .*require_principal_binding/),
  ]);
  expect((await login.call('POST', `${path}/some`, { bound_group_ids: 'g' })).status).toBe(204);
});

test('a role is refused with the names of all fields that are not valid', async () => {
  const body = {
    bound_group_ids: 7,
    token_ttl: 'soon',
    token_type: 'x',
    max_token_age: -1,
    token_bound_cidrs: 'x',
  };
  const { status, body: response } = await login.call('POST', `${path}/broken`, body);
  expect(status).toBe(400);
  expect(response.errors.map((sentence: string) => /^\w+/.exec(sentence)![0]).sort()).toEqual(
    Object.keys(body).sort(),
  );
});

test('a write that would leave a role without bounds is refused, and changes nothing', async () => {
  await login.call('POST', `${path}/kept`, { bound_group_ids: 'g', policies: 'a' });
  expect((await login.call('POST', `${path}/kept`, { bound_group_ids: [], policies: 'b' })).status).toBe(400);
  expect((await login.call('GET', `${path}/kept`)).body.data).toMatchObject({
    bound_group_ids: ['g'],
    token_policies: ['a'],
  });
});

test('a verb that a path does not support is refused', async () => {
  const { status, headers } = await login.call('PATCH', `${path}/web`, {});
  expect(status).toBe(405);
  expect(headers.get('allow')?.split(', ').sort()).toEqual(['DELETE', 'GET', 'POST', 'PUT']);
});

test.each(['token_policies', 'policies'])('a list of blank names in %s is no policy', async (field) => {
  for (const blank of [[''], [' '], ' ', ',']) {
    await login.call('POST', `${path}/blank`, { policies: 'a', bound_group_ids: 'g' });
    expect((await login.call('POST', `${path}/blank`, { [field]: blank })).status).toBe(204);
    expect((await login.call('GET', `${path}/blank`)).body.data).toMatchObject({
      token_policies: [],
      policies: [],
    });
  }
});
