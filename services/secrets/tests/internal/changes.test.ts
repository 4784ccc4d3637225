import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import { claimOutbox, deleteOutbox, releaseOutbox } from '../../src/queries/outbox.ts';
import { type SecretsForTest, startSecretsForTest } from '../secrets-for-test.ts';

let secrets: SecretsForTest;
beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.call('POST', '/sys/mounts/kv', { type: 'kv' });
});
beforeEach(() => secrets.db.query('delete from secrets.outbox'));
afterAll(() => secrets.stop());

const call: SecretsForTest['call'] = (...given) => secrets.call(...given);
const write = (name: string, value: object) => call('POST', `/kv/data/${name}`, { data: value });
const watch = async (secret_name: string, mount = 'kv') =>
  (await secrets.callInternal('/internal/secrets/watch', { namespace_id: 'root', mount, secret_name })).body;
const inspect = async (...secret_ids: string[]) =>
  (await secrets.callInternal('/internal/secrets/inspect', { secret_ids })).body.data.secrets;
const pending = () =>
  secrets.db.query<{ secret_id: string }>('select secret_id from secrets.outbox order by id');

test('a preview of secrets by their IDs returns sizes and no values, and watches nothing', async () => {
  await write('previewed/by-id', { user: 'canary-1' });
  const [{ id } = { id: '' }] = await secrets.db.query<{ id: string }>(
    "select id from secrets.secrets where path = 'previewed/by-id'",
  );
  const ids = { secret_ids: [id, '00000000-0000-4000-8000-000000000000'] };
  const preview = async (more: object) =>
    (await secrets.callInternal('/internal/secrets/previews', { ...ids, ...more })).body.data.secrets;
  const state = { secret_id: id, readable: true, keys: ['user'], value_bytes: 19, key_bytes: [8] };
  expect(await preview({})).toEqual([expect.objectContaining(state)]);
  const [hashed] = await preview({ hashes: true });
  expect(hashed).toMatchObject({ value_hash: expect.any(String), key_hashes: [expect.any(String)] });
  expect(JSON.stringify(hashed)).not.toContain('canary');
  expect(
    await secrets.db.query("select watched from secrets.secrets where path = 'previewed/by-id'"),
  ).toEqual([{ watched: false }]);
});

describe('watching', () => {
  test('returns the state of a secret: names of keys, never values', async () => {
    await write('seen/a', { user: 'canary-1', pass: { x: 1 } });
    const { data } = await watch('seen/a', 'kv/');
    expect(data).toEqual({
      secret_id: expect.any(String),
      exists: true,
      readable: true,
      newest_readable_version: 1,
      revision: 1,
      keys: ['user', 'pass'],
      mount_path: 'kv',
      secret_name: 'seen/a',
      mount_id: expect.any(String),
      accessor: expect.stringMatching(/^kv_/),
      folder: false,
    });
    expect(JSON.stringify(data)).not.toContain('canary');
  });

  test('distinguishes a folder, a missing secret, a deleted one and a missing mount', async () => {
    await write('folder/a', {});
    expect((await watch('folder/')).data).toMatchObject({
      exists: false,
      folder: true,
      secret_id: null,
      secret_name: 'folder',
    });
    expect((await watch('absent')).data).toMatchObject({ exists: false, folder: false, readable: false });
    await write('deleted', { a: 1 });
    await call('DELETE', '/kv/data/deleted');
    expect((await watch('deleted')).data).toMatchObject({ exists: true, readable: false, keys: [] });
    expect((await watch('a', 'nope')).errors[0]).toContain('mount:');
  });

  test('refuses an invalid path with the name of its field', async () => {
    expect((await watch('a//b')).errors).toEqual([expect.stringMatching(/^secret_name: must not begin/)]);
  });

  test('refuses other services with 403', async () => {
    const body = { namespace_id: 'root', mount: 'kv', secret_name: 'seen/a' };
    expect((await call('POST', '/internal/secrets/watch', body)).status).toBe(403);
  });
});

describe('previewing', () => {
  const preview = async (secret_name: string, more: object = {}) =>
    (
      await secrets.callInternal('/internal/secrets/preview', {
        namespace_id: 'root',
        mount: 'kv',
        secret_name,
        ...more,
      })
    ).body.data;

  test('returns the state and the sizes of what would be pushed, and does not subscribe', async () => {
    await write('previewed', { text: 'ü', list: [1, 2] });
    const { value_bytes, key_bytes, new_path_problem, current_version, ...state } =
      await preview('previewed');
    expect(current_version).toBe(1);
    expect(new_path_problem).toBeNull();
    expect([value_bytes, key_bytes]).toEqual(['{"text":"ü","list":[1,2]}'.length + 1, [2, 5]]);
    await write('previewed', { text: 'ü', list: [1, 2] });
    expect(await pending()).toEqual([]);
    expect({ ...(await watch('previewed')).data, revision: 1, newest_readable_version: 1 }).toEqual(state);
  });

  test('says why no new secret can have the path', async () => {
    const { exists, new_path_problem } = await preview('in\u200Bvisible');
    expect([exists, new_path_problem]).toEqual([false, 'must not contain invisible characters']);
  });

  test('returns keyed hashes of what would be pushed if asked for, which are equal for equal values', async () => {
    const hashes = async (value: object) => {
      await write('hashed', value);
      const { value_hash: whole, key_hashes: keys } = await preview('hashed', { hashes: true });
      return [whole, ...keys];
    };
    const [whole, object, text] = await hashes({ o: { a: 1, b: 'canary-value' }, t: 'canary-value' });
    expect(await hashes({ t: 'canary-value', o: { b: 'canary-value', a: 1 } })).toEqual([
      whole,
      text,
      object,
    ]);
    const other = await hashes({ o: { a: 1, b: 'other' }, t: 'canary-value' });
    expect([other[0] === whole, other[1] === object, other[2] === text]).toEqual([false, false, true]);
    expect(JSON.stringify([whole, object, text])).not.toContain('canary');
  });

  test('distinguishes a folder, a missing secret and a deleted one', async () => {
    await write('shelf/a', { a: 1 });
    expect(await preview('shelf')).toMatchObject({ exists: false, folder: true });
    expect(await preview('nowhere')).toMatchObject({ exists: false, folder: false });
    await call('DELETE', '/kv/data/shelf/a');
    expect(await preview('shelf/a')).toMatchObject({ exists: true, readable: false, value_bytes: 0 });
  });
});

test('inspecting omits a value that cannot be decrypted: an unknown state is not a missing secret', async () => {
  await write('broken', { a: 1 });
  await write('whole', { a: 1 });
  const broken = (await watch('broken')).data.secret_id;
  const whole = (await watch('whole')).data.secret_id;
  await secrets.db.query(
    `update secrets.versions set sealed = set_byte(sealed, 40, (get_byte(sealed, 40) + 1) % 256)
     where secret_id = $1`,
    [broken],
  );
  expect(await inspect(broken, whole)).toEqual([expect.objectContaining({ secret_id: whole, keys: ['a'] })]);
});

test('inspecting falls back to the newest version that is readable', async () => {
  await write('fall', { one: 1 });
  await write('fall', { two: 1 });
  const { data } = await watch('fall');
  await call('POST', '/kv/destroy/fall', { versions: [2] });
  const [now, missing] = await inspect(data.secret_id, '00000000-0000-4000-8000-000000000000');
  expect(now).toMatchObject({ exists: true, readable: true, newest_readable_version: 1, keys: ['one'] });
  expect(now.revision).toBeGreaterThan(data.revision);
  expect(missing).toMatchObject({ exists: false, readable: false });
});

// A standby is promoted, or a copy restored, that lacks the newest commits, while the services keep running.
describe('after commits were lost', () => {
  test('a revision is not used again for another change', async () => {
    await write('repeated', { a: 1 });
    const { secret_id, revision } = (await watch('repeated')).data;
    const revisionNow = async () => (await inspect(secret_id))[0].revision;
    const changes = [
      () => write('repeated', { a: 2 }),
      () => call('PATCH', '/kv/data/repeated', { data: { b: 1 } }),
      () => call('POST', '/kv/metadata/repeated', { max_versions: 5 }),
      () => call('DELETE', '/kv/data/repeated'),
    ];
    const seen = new Set([revision]);
    for (const change of changes) {
      await change();
      seen.add(await revisionNow());
      await secrets.db.query('update secrets.secrets set revision = $2 where id = $1', [secret_id, revision]);
    }
    expect(seen.size).toBe(1 + changes.length);
  });

  test('an event that has the ID of a lost one is published', async () => {
    await secrets.db.query('delete from secrets.outbox');
    const insert = `insert into secrets.outbox (id, secret_id) overriding system value values (1000000, $1)`;
    const secretId = crypto.randomUUID();
    await secrets.db.query(insert, [secretId]);
    const lost = await claimOutbox(secrets.db, 10);
    await secrets.db.query('delete from secrets.outbox');
    await secrets.db.query(insert, [secretId]);
    await deleteOutbox(secrets.db, lost);
    const claimed = await claimOutbox(secrets.db, 10);
    expect(claimed).toMatchObject([{ id: 1_000_000, secretId }]);
    await releaseOutbox(secrets.db, lost);
    expect(await claimOutbox(secrets.db, 10)).toEqual([]);
    await releaseOutbox(secrets.db, claimed);
    await deleteOutbox(secrets.db, await claimOutbox(secrets.db, 10));
    expect(await secrets.db.query('select from secrets.outbox')).toEqual([]);
  });

  test('a secret that is associated and no longer watched is watched again once it is inspected', async () => {
    await write('unwatched', { a: 1 });
    const { secret_id } = (await watch('unwatched')).data;
    await secrets.db.query('update secrets.secrets set watched = false where id = $1', [secret_id]);
    await inspect(secret_id);
    expect(await secrets.db.query('select watched from secrets.secrets where id = $1', [secret_id])).toEqual([
      { watched: true },
    ]);
  });
});

describe('the outbox', () => {
  test('stays empty for a secret that is not watched', async () => {
    await write('quiet', { a: 1 });
    await write('quiet', { a: 2 });
    await call('PATCH', '/kv/data/quiet', { data: { b: 1 } });
    await call('DELETE', '/kv/data/quiet');
    await call('DELETE', '/kv/metadata/quiet');
    expect(await pending()).toEqual([]);
  });

  test.each([
    ['a write', 'POST', 'data', { data: {} }],
    ['a patch', 'PATCH', 'data', { data: { b: 1 } }],
    ['a deletion of the newest version', 'DELETE', 'data', undefined],
    ['a deletion of versions', 'POST', 'delete', { versions: [1, 2] }],
    ['a destruction of versions', 'POST', 'destroy', { versions: [1] }],
    ['a deletion of the secret', 'DELETE', 'metadata', undefined],
  ])('receives one event for %s of a watched secret', async (name, method, kind, body) => {
    const path = name.replaceAll(' ', '-');
    await write(path, { a: 1 });
    await write(path, { a: 2 });
    const { data } = await watch(path);
    await call(method, `/kv/${kind}/${path}`, body);
    expect(await pending()).toEqual([{ secret_id: data.secret_id }]);
  });

  test('receives one event for an undeletion of a watched secret', async () => {
    await write('undeleted', { a: 1 });
    await call('DELETE', '/kv/data/undeleted');
    await watch('undeleted');
    await call('POST', '/kv/undelete/undeleted', { versions: [1] });
    expect(await pending()).toHaveLength(1);
  });

  test.each([
    ['an undeletion of a version that is not deleted', 'undelete', { versions: [1] }, 204],
    ['a change of metadata', 'metadata', { max_versions: 3 }, 204],
    ['a refused write', 'data', { data: {}, options: { cas: 7 } }, 400],
  ])('gets no event for %s', async (name, kind, body, status) => {
    const path = name.replaceAll(' ', '-');
    await write(path, { a: 1 });
    await watch(path);
    expect((await call('POST', `/kv/${kind}/${path}`, body)).status).toBe(status);
    expect(await pending()).toEqual([]);
  });
});

test('publishes changes, expiries and disabled mounts, and empties the outbox', async () => {
  await write('changing', { a: 1 });
  const changing = (await watch('changing')).data;
  await write('changing', { a: 2 });
  await call('POST', '/kv/metadata/expiring', { delete_version_after: '5s' });
  await write('expiring', { a: 1 });
  const expiring = (await watch('expiring')).data;
  await call('POST', '/sys/mounts/going', { type: 'kv' });
  await call('POST', '/going/data/x', { data: { a: 1 } });
  const going = (await watch('x', 'going')).data;
  await secrets.start();
  await call('DELETE', '/sys/mounts/going');
  const expected = [changing, expiring, going].map(({ secret_id }) => ({ secret_id, to_match: false }));
  await eventually(() => secrets.published.length === expected.length);
  expect(secrets.published).toEqual(expect.arrayContaining(expected));
  const [expired, gone] = await inspect(expiring.secret_id, going.secret_id);
  expect(expired).toMatchObject({ exists: true, readable: false });
  expect(expired.revision).toBeGreaterThan(expiring.revision);
  expect(gone).toMatchObject({ exists: false });
  await eventually(async () => (await pending()).length === 0);
});

test('reading revisions opens no value: it also returns that of a value that cannot be decrypted', async () => {
  await write('sealed', { a: 1 });
  const { data } = await watch('sealed');
  await secrets.db.query(`update secrets.versions set sealed = '\\x00' where secret_id = $1`, [
    data.secret_id,
  ]);
  const missing = '00000000-0000-4000-8000-000000000000';
  const secret_ids = [data.secret_id, missing];
  const { body } = await secrets.callInternal('/internal/secrets/revisions', { secret_ids });
  expect(body.data.secrets).toEqual([
    { secret_id: data.secret_id, exists: true, revision: data.revision },
    { secret_id: missing, exists: false, revision: 0 },
  ]);
});
