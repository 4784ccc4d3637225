import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Db, migrate } from '@secrets/db';
import { openTestDb } from '@secrets/db/testing';
import { testCaller } from '@secrets/http/testing';
import { silentLogger } from '@secrets/telemetry';
import { associate } from '../src/associate.ts';
import type { Context } from '../src/context.ts';
import { disassociate } from '../src/disassociate.ts';
import { followSecret } from '../src/on-secret-change.ts';
import { queueRoom } from '../src/queue-room.ts';
import type { WatchedSecret } from '../src/secrets-client.ts';

const folder = (service: string) => new URL(`../../${service}/migrations`, import.meta.url).pathname;

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
  for (const [schema, service] of Object.entries({
    login: 'login',
    secrets: 'secrets',
    sync: 'sync-control',
  }))
    await migrate(db, { schema, folder: folder(service) });
  await db.query(
    `insert into sync.destinations (namespace_id, namespace_path, type, name, settings)
     values ('root', '', 'cloudA-sm', 'd', $1)`,
    [
      JSON.stringify({
        granularity: 'secret-key',
        secret_name_template: '{{ .SecretPath }}/{{ .SecretKey }}',
      }),
    ],
  );
});
afterAll(() => db.close());
beforeEach(async () => {
  await db.query('delete from sync.associations');
  await db.query('update sync.config set queue_capacity = default');
});

const ids = { mount_id: randomUUID(), secret_id: randomUUID() };
const secretAt = (revision: number, keys: string[]): WatchedSecret => ({
  ...ids,
  exists: true,
  folder: false,
  readable: true,
  accessor: 'kv_1',
  mount_path: 'kv',
  revision,
  keys,
});

/** What is looked up, look after look. */
function contextSeeing(...looks: WatchedSecret[]): Context {
  const unused = () => Promise.reject(new Error('not used here'));
  return {
    db,
    ring: undefined as never,
    secrets: {
      watch: async () => looks.shift() ?? unused(),
      accessorOf: unused,
      inspect: unused,
      close: async () => undefined,
    },
    policies: { capabilitiesOn: async () => ['read'] },
    queue: {
      room: queueRoom(db),
      nudge: () => undefined,
      outcome: async () => undefined,
    },
    prefix: 'secrets',
  };
}

const wanted = () =>
  db.query('select sub_key as key, desired from sync.entries order by sub_key').then((rows) => rows);
const templateIs = (template: string) =>
  db.query(
    `update sync.destinations set settings = settings || jsonb_build_object('secret_name_template', $1::text)`,
    [template],
  );
const wish = { type: 'cloudA-sm', name: 'd', mount: 'kv', secretName: 's', overwrite: false };

test('a set whose look at the secret was overtaken by a change looks again, and drops no key that came meanwhile', async () => {
  const [early, late] = [secretAt(1, ['a']), secretAt(2, ['a', 'b'])];
  await associate(contextSeeing(early), testCaller(), wish, 0);
  await followSecret(
    { context: contextSeeing(), log: silentLogger() },
    { ...late, secret_id: ids.secret_id },
  );
  await associate(contextSeeing(early, late), testCaller(), wish, 0);
  expect(await wanted()).toEqual([
    { key: 'a', desired: 'present' },
    { key: 'b', desired: 'present' },
  ]);
});

test('setting again while the new name is not there yet keeps the old one until it is', async () => {
  const look = secretAt(1, ['a']);
  await associate(contextSeeing(look), testCaller(), wish, 0);
  await templateIs('new/{{ .SecretPath }}/{{ .SecretKey }}');
  await associate(contextSeeing(look), testCaller(), wish, 0);
  await associate(contextSeeing(look), testCaller(), wish, 0);
  await templateIs('{{ .SecretPath }}/{{ .SecretKey }}');
  expect(
    await db.query(
      `select old.external_name as old, new.external_name as new
         from sync.entries old join sync.entries new on new.id = old.waits_for`,
    ),
  ).toEqual([{ old: 's/a', new: 'new/s/a' }]);
});

describe('with a queue that is full', () => {
  const full = { kind: 'queue_full' };
  const capacityIs = (capacity: number) => db.query('update sync.config set queue_capacity = $1', [capacity]);
  const set = (keys: string[], secretName = 's') =>
    associate(
      contextSeeing({ ...secretAt(1, keys), secret_id: randomUUID() }),
      testCaller(),
      { ...wish, secretName },
      0,
    );
  const remove = () => disassociate(contextSeeing(), testCaller(), wish, 0);
  const achieved = () =>
    db.query('update sync.entries set applied_generation = generation, due_at = null, announced_at = null');

  test('setting again what is pending already passes: it adds nothing', async () => {
    await set(['a', 'b']);
    for (const capacity of [2, 1]) {
      await capacityIs(capacity);
      await set(['a', 'b']);
      await set(['a']);
    }
  });

  test('what adds to it is refused and writes nothing: a new key, a new association, one that was achieved', async () => {
    await set(['a', 'b']);
    await capacityIs(2);
    await expect(set(['a', 'b', 'c'])).rejects.toMatchObject(full);
    await expect(set(['a'], 'other')).rejects.toMatchObject(full);
    expect(await wanted()).toHaveLength(2);
    await achieved();
    await set(['x', 'y'], 'other');
    await expect(set(['a', 'b'])).rejects.toMatchObject(full);
    expect(await db.query('select id from sync.entries where applied_generation = generation')).toHaveLength(
      2,
    );
  });

  test('removing what is pending, or was never there, passes; what was achieved is refused', async () => {
    await set(['a', 'b']);
    await capacityIs(2);
    await remove();
    expect(await wanted()).toEqual([
      { key: 'a', desired: 'absent' },
      { key: 'b', desired: 'absent' },
    ]);
    await achieved();
    await set(['x', 'y'], 'other');
    await expect(remove()).rejects.toMatchObject(full);
    await db.query(`delete from sync.associations where secret_name = 's'`);
    expect(await remove()).toBeUndefined();
  });
});
