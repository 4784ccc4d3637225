import { beforeAll, expect, test } from '@jest/globals';
import { testCaller } from '@secrets/http/testing';
import { type LoginForTest, useCloudB } from '../login-for-test.ts';

// A request that changes a part of an object must not restore the other parts to what they were before it waited.

const { cloudB, login } = useCloudB();
let accessor: string;

beforeAll(async () => {
  accessor = (await login.call('GET', '/sys/auth/cloudB')).body.data.accessor;
});

const weak = testCaller({ policies: ['weak'], grants: ['update'] });

/** Sends a request that waits for a change of the same row, and returns its response after that change was committed. */
async function sendDuring(change: string, id: string, send: () => ReturnType<LoginForTest['call']>) {
  const sent = await login.db.transaction(async (tx) => {
    await tx.query(change, [id]);
    const response = send();
    let isAnswered = false;
    void response.finally(() => {
      isAnswered = true;
    });
    const blocked =
      'select 1 from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))';
    while (!isAnswered && (await tx.query(blocked)).length === 0);
    return { response };
  });
  return sent.response;
}

const createGroup = async (name: string) =>
  (await login.call('POST', '/identity/group', { name, policies: 'strong' })).body.data.id as string;

test('a write of the metadata of an entity keeps what another one changes at the same time', async () => {
  const { entity_id: id } = (await cloudB.logInWith({})).body.auth;
  const path = `/identity/entity/id/${id}`;
  await login.call('POST', path, { policies: 'strong' });
  const change = `update login.entities set disabled = true, policies = '{}' where id = $1`;
  const send = () => login.call('POST', path, { metadata: { team: 'x' } }, weak);
  expect((await sendDuring(change, id, send)).status).toBe(200);
  expect((await login.call('GET', path)).body.data).toMatchObject({
    disabled: true,
    policies: [],
    metadata: { team: 'x' },
  });
  await login.call('POST', path, { disabled: false });
});

test('a write of the metadata of a group keeps what another one changes at the same time', async () => {
  const id = await createGroup('changing');
  const change = `update login.groups set policies = '{}' where id = $1`;
  for (const path of [`/identity/group/id/${id}`, '/identity/group/name/changing']) {
    await login.call('POST', path, { policies: 'strong' });
    const send = () => login.call('POST', path, { metadata: { team: 'x' } }, weak);
    expect((await sendDuring(change, id, send)).status).toBe(200);
    const { data } = (await login.call('GET', path)).body;
    expect(data).toMatchObject({ policies: [], metadata: { team: 'x' } });
  }
});

test('a group that is deleted at the same time is created again by its name, and not found by its ID', async () => {
  const path = '/identity/group/name/deleted';
  const remove = 'delete from login.groups where id = $1';
  const first = await createGroup('deleted');
  const created = await sendDuring(remove, first, () => login.call('POST', path, { metadata: {} }));
  expect(created.body.data.id).not.toBe(first);
  const byId = () => login.call('POST', `/identity/group/id/${created.body.data.id}`, { metadata: {} });
  expect((await sendDuring(remove, created.body.data.id, byId)).status).toBe(404);
});

test('the alias of a group keeps what another write changes at the same time', async () => {
  const group = await createGroup('aliased');
  const alias = { name: 'one', mount_accessor: accessor, canonical_id: group };
  const saved = await login.call('POST', '/identity/group-alias', alias);
  const path = `/identity/group-alias/id/${saved.body.data.id}`;
  const other = await createGroup('other');
  const send = () => login.call('POST', path, { name: 'two' });
  const change = `with locked as (select 1 from login.namespaces where id = 'root' for update)
    update login.group_aliases set group_id = $1 from locked`;
  expect((await sendDuring(change, other, send)).status).toBe(200);
  expect((await login.call('GET', path)).body.data).toMatchObject({ name: 'two', canonical_id: other });
});

test('an alias needs the policies that its group has when it is written', async () => {
  const id = await createGroup('raised');
  await login.call('POST', `/identity/group/id/${id}`, { policies: 'weak' });
  const creator = testCaller({ policies: ['weak'], grants: ['create', 'update'] });
  const alias = { name: 'raised', mount_accessor: accessor, canonical_id: id };
  const send = () => login.call('POST', '/identity/group-alias', alias, creator);
  const change = `update login.groups set policies = '{strong}' where id = $1`;
  expect((await sendDuring(change, id, send)).status).toBe(400);
});

test('a login replaces the groups that another one of the identity records at the same time, and moves the epoch', async () => {
  const group = await createGroup('joined');
  await login.call('POST', '/identity/group-alias', {
    name: 'joined',
    mount_accessor: accessor,
    canonical_id: group,
  });
  const { entity_id: id } = (await cloudB.logInWith({ groups: [] })).body.auth;
  const newer = { iat: Math.floor(Date.now() / 1_000) };
  const jwt = await cloudB.issueJwt({ groups: [], overrides: newer });
  const change = `update login.entity_aliases set groups = '{joined}' where entity_id = $1`;
  const before = await login.epoch();
  expect((await sendDuring(change, id, () => cloudB.logIn({ role: 'web', jwt }))).status).toBe(200);
  expect((await login.call('GET', `/identity/entity/id/${id}`)).body.data.group_ids).toEqual([]);
  expect(await login.epoch()).toBe(before + 1);
});

test('a change of one setting of a mount keeps what another one changes at the same time', async () => {
  const [{ id } = { id: '' }] = await login.db.query<{ id: string }>('select id from login.auth_mounts');
  const change = 'update login.auth_mounts set max_lease_seconds = 60 where id = $1';
  const send = () => login.call('POST', '/sys/auth/cloudB/tune', { description: 'new' });
  expect((await sendDuring(change, id, send)).status).toBe(204);
  expect((await login.call('GET', '/sys/auth/cloudB')).body.data).toMatchObject({
    description: 'new',
    config: { max_lease_ttl: 60 },
  });
});

test('the first write of the identity issuer keeps what another first one sets at the same time', async () => {
  const first = `insert into login.identity_issuer (issuer, rotation_seconds, verification_seconds) values ($1, 7200, 172800)`;
  const send = () =>
    login.call('POST', '/identity/oidc/config', { rotation_period: '3h', issuer: 'https://b.example' });
  const response = await sendDuring(first, 'https://a.example', send);
  expect(response.body.data).toMatchObject({
    issuer: 'https://b.example',
    rotation_period: 3 * 3_600,
    verification_ttl: 172_800,
  });
});
