import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { testCaller } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { entriesOf } from '@secrets/sync-entries';
import { silentLogger } from '@secrets/telemetry';
import { associate } from '../src/associations/associate.ts';
import { disassociate } from '../src/associations/disassociate.ts';
import { presentAssociation } from '../src/associations/present-association.ts';
import { type Following, followSecret } from '../src/changes/on-secret-change.ts';
import type { Context } from '../src/context.ts';
import { findAssociation } from '../src/queries/associations.ts';
import { queueRoom } from '../src/queue/queue-room.ts';
import type { WatchedSecret } from '../src/secrets-client.ts';

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
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
beforeEach(() => db.query('delete from sync.associations'));

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

/** A context in which the secrets service returns these states, one after the other. */
function contextSeeing(...states: WatchedSecret[]): Context {
  const unused = () => Promise.reject(new Error('not used here'));
  return {
    db,
    keyRing: undefined as never,
    secrets: {
      watch: async () => states.shift() ?? unused(),
      preview: unused,
      inspect: unused,
      revisions: unused,
      close: async () => undefined,
    },
    policies: { capabilitiesOn: async () => ['read'] },
    queue: {
      room: queueRoom(db),
      notify: () => undefined,
      publish: unused,
      outcome: async () => undefined,
      budgets: {},
      deadLetters: undefined as never,
    },
    events: undefined as never,
    prefix: 'secrets',
  };
}

const following = (): Following => ({
  context: contextSeeing(),
  log: silentLogger(),
  brake: { limits: { minEntries: 50, share: 0.2 }, log: silentLogger() },
});

const wanted = () => db.query('select sub_key as key, desired from sync.entries order by sub_key');
const usualTemplate = '{{ .SecretPath }}/{{ .SecretKey }}';
const granularityIs = (granularity: string) =>
  db.query(
    `update sync.destinations set settings = settings || jsonb_build_object('granularity', $1::text)`,
    [granularity],
  );
const templateIs = (template: string) =>
  db.query(
    `update sync.destinations set settings = settings || jsonb_build_object('secret_name_template', $1::text)`,
    [template],
  );
const request = { type: 'cloudA-sm', name: 'd', mount: 'kv', secretName: 's', overwrite: false };

test('a set that a change overtook reads the secret again, and keeps the keys that the change added', async () => {
  const [early, late] = [secretAt(1, ['a']), secretAt(2, ['a', 'b'])];
  await associate(contextSeeing(early), testCaller(), request, 0);
  await followSecret(following(), { ...late, secret_id: ids.secret_id });
  await associate(contextSeeing(early, late), testCaller(), request, 0);
  expect(await wanted()).toEqual([
    { key: 'a', desired: 'present' },
    { key: 'b', desired: 'present' },
  ]);
});

describe('keys that a change adds and that cannot be synced', () => {
  const follow = (revision: number, keys: string[]) =>
    followSecret(following(), { ...secretAt(revision, keys), ...ids });
  const lines = async () => {
    const [row] = await db.query<{ id: string }>('select id from sync.associations');
    const association = (await findAssociation(db, row!.id))!;
    return presentAssociation(association, await entriesOf(db, [association.id]));
  };

  test('have a line with the reason until they are removed', async () => {
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await follow(2, ['a', 'not good', '', '\0', '\ud800', 'b']);
    expect(await lines()).toEqual({
      'kv_1/s/a': expect.objectContaining({ sync_status: 'PENDING' }),
      'kv_1/s/b': expect.objectContaining({ sync_status: 'PENDING' }),
      'kv_1/s/': expect.objectContaining({ sync_status: 'CLIENT_SIDE_ERROR' }),
      'kv_1/s/\0': expect.objectContaining({ sync_status: 'CLIENT_SIDE_ERROR' }),
      'kv_1/s/\ud800': expect.objectContaining({ sync_status: 'CLIENT_SIDE_ERROR' }),
      'kv_1/s/not good': {
        accessor: 'kv_1',
        mount: 'kv',
        secret_name: 's',
        sub_key: 'not good',
        external_name: '',
        sync_status: 'CLIENT_SIDE_ERROR',
        updated_at: expect.any(String),
        attempts: 0,
        next_attempt_at: null,
        last_error: expect.stringMatching(/^the external name "s\/not good" cannot be used: /),
      },
    });
    await follow(3, ['a', 'b']);
    expect(Object.keys(await lines())).toEqual(['kv_1/s/a', 'kv_1/s/b']);
  });

  test('name the other secret that has the name, and are synced by a set once the name is free', async () => {
    await templateIs('x/{{ .SecretKey }}');
    const other = { ...secretAt(1, ['b']), secret_id: randomUUID() };
    await associate(contextSeeing(other), testCaller(), { ...request, secretName: 'other' }, 0);
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await follow(2, ['a', 'b']);
    const [row] = await db.query<{ unnamed: unknown }>(
      `select unnamed_keys as unnamed from sync.associations where secret_name = 's'`,
    );
    const reason = 'the external name x/b is taken in this destination by kv/other (key b), as x/b';
    expect(row!.unnamed).toEqual([{ key: 'b', reason }]);
    await db.query(`delete from sync.associations where secret_name = 'other'`);
    await associate(contextSeeing(secretAt(2, ['a', 'b'])), testCaller(), request, 0);
    expect((await lines())['kv_1/s/b']).toMatchObject({ sync_status: 'PENDING', external_name: 'x/b' });
    await templateIs(usualTemplate);
  });

  test('never take the name of a key that is already synced, whatever the template is now', async () => {
    await templateIs('x/{{ .SecretKey | lowercase }}');
    await associate(contextSeeing(secretAt(1, ['B'])), testCaller(), request, 0);
    await follow(2, ['b', 'B']);
    expect(await wanted()).toEqual([{ key: 'B', desired: 'present' }]);
    await templateIs('y {{ .SecretKey }}');
    await follow(3, ['b', 'B']);
    expect(await wanted()).toEqual([{ key: 'B', desired: 'present' }]);
    await templateIs(usualTemplate);
  });

  test('are named by what the association was planned by, until it is set again', async () => {
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await templateIs('new/{{ .SecretKey }}');
    await follow(2, ['a', 'b']);
    expect((await lines())['kv_1/s/b']).toMatchObject({ external_name: 's/b' });
    await granularityIs('secret-path');
    await follow(3, ['b', 'c']);
    expect(await wanted()).toEqual([
      { key: 'a', desired: 'absent' },
      { key: 'b', desired: 'present' },
      { key: 'c', desired: 'present' },
    ]);
    await granularityIs('secret-key');
    await templateIs(usualTemplate);
  });

  test('are followed while the old name of the whole secret waits for its removal', async () => {
    await granularityIs('secret-path');
    await templateIs('whole/{{ .SecretPath }}');
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await granularityIs('secret-key');
    await templateIs(usualTemplate);
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await follow(2, ['a', 'b']);
    expect(await wanted()).toEqual([
      { key: '', desired: 'absent' },
      { key: 'a', desired: 'present' },
      { key: 'b', desired: 'present' },
    ]);
  });

  test('have no line while the association is removed', async () => {
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await follow(2, ['a', 'not good']);
    await disassociate(contextSeeing(), testCaller(), request, 0);
    expect(Object.keys(await lines())).toEqual(['kv_1/s/a']);
  });
});
