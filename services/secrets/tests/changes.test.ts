import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { messagesOf } from '../src/changes/changes-relay.ts';
import { eventually, type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

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
  (await secrets.ask('/internal/secrets/watch', { namespace_id: 'root', mount, secret_name })).body;
const inspect = async (...secret_ids: string[]) =>
  (await secrets.ask('/internal/secrets/inspect', { secret_ids })).body.data.secrets;
const pending = () =>
  secrets.db.query<{ secret_id: string }>('select secret_id from secrets.outbox order by id');

describe('watching', () => {
  test('tells how a secret stands: names, never values', async () => {
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

  test('tells a folder, a missing secret, a deleted one and a missing mount apart', async () => {
    expect((await watch('seen')).data).toMatchObject({ exists: false, folder: true, secret_id: null });
    expect((await watch('absent')).data).toMatchObject({ exists: false, folder: false, readable: false });
    await write('dead', { a: 1 });
    await call('DELETE', '/kv/data/dead');
    expect((await watch('dead')).data).toMatchObject({ exists: true, readable: false, keys: [] });
    expect((await watch('a', 'nope')).errors[0]).toContain('mount:');
    const find = (mount: string) => secrets.ask('/internal/mounts/find', { namespace_id: 'root', mount });
    expect((await find('nope')).body.data).toBeNull();
    expect((await find('kv/')).body.data.accessor).toMatch(/^kv_/);
  });

  test('is for sync-control alone', async () => {
    const body = { namespace_id: 'root', mount: 'kv', secret_name: 'seen/a' };
    expect((await call('POST', '/internal/secrets/watch', body)).status).toBe(403);
  });
});

test('a value that cannot be opened is left out: unknown is not absent', async () => {
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

describe('the outbox', () => {
  test('stays empty while nobody watches', async () => {
    await write('quiet', { a: 1 });
    await write('quiet', { a: 2 });
    await call('PATCH', '/kv/data/quiet', { data: { b: 1 } });
    await call('DELETE', '/kv/data/quiet');
    await call('DELETE', '/kv/metadata/quiet');
    expect(await pending()).toEqual([]);
  });

  test.each([
    ['a new version', 'POST', 'data', { data: {} }, 1],
    ['a patch', 'PATCH', 'data', { data: { b: 1 } }, 1],
    ['a deletion', 'DELETE', 'data', undefined, 1],
    ['a deletion of versions', 'POST', 'delete', { versions: [1, 2] }, 1],
    ['a destruction', 'POST', 'destroy', { versions: [1] }, 1],
    ['the end of all', 'DELETE', 'metadata', undefined, 1],
    ['an undeletion of what is not deleted', 'POST', 'undelete', { versions: [1] }, 0],
    ['other metadata', 'POST', 'metadata', { max_versions: 3 }, 0],
  ])('%s of a watched secret: %s %s', async (name, method, kind, body, rows) => {
    const path = name.replaceAll(' ', '-');
    await write(path, { a: 1 });
    await write(path, { a: 2 });
    const { data } = await watch(path);
    await call(method, `/kv/${kind}/${path}`, body);
    expect(await pending()).toEqual(Array(rows).fill({ secret_id: data.secret_id }));
  });

  test('an undeletion', async () => {
    await write('undeleted', { a: 1 });
    await call('DELETE', '/kv/data/undeleted');
    await watch('undeleted');
    await call('POST', '/kv/undelete/undeleted', { versions: [1] });
    expect(await pending()).toHaveLength(1);
  });

  test('a write that is refused leaves nothing', async () => {
    await write('refused', { a: 1 });
    await watch('refused');
    await call('POST', '/kv/data/refused', { data: {}, options: { cas: 7 } });
    expect(await pending()).toEqual([]);
  });
});

test('several rows of one secret become one message', () => {
  const rows = ['a', 'b', 'a'].map((secretId, index) => ({ id: index, secretId }));
  expect(messagesOf(rows).map(({ id, message }) => [id, message.secret_id])).toEqual([
    [[0, 2], 'a'],
    [[1], 'b'],
  ]);
});

test('changes, expiries and unmounting reach the broker, and the outbox empties', async () => {
  await call('POST', '/kv/metadata/expiring', { delete_version_after: '1s' });
  await write('expiring', { a: 1 });
  const expiring = (await watch('expiring')).data;
  await call('POST', '/sys/mounts/going', { type: 'kv' });
  await call('POST', '/going/data/x', { data: { a: 1 } });
  const going = (await watch('x', 'going')).data;
  await secrets.start();
  await call('DELETE', '/sys/mounts/going');
  await eventually(() => secrets.published.length === 2);
  expect(secrets.published).toEqual(
    expect.arrayContaining([{ secret_id: expiring.secret_id }, { secret_id: going.secret_id }]),
  );
  const [expired, gone] = await inspect(expiring.secret_id, going.secret_id);
  expect(expired).toMatchObject({ exists: true, readable: false });
  expect(expired.revision).toBeGreaterThan(expiring.revision);
  expect(gone).toMatchObject({ exists: false });
  await eventually(async () => (await pending()).length === 0);
});
