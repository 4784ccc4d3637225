import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { testCaller } from '@secrets/http/testing';
import { openTestDb } from '@secrets/schemas/testing';
import {
  type ClaimedEntry,
  claimEntries,
  completeEntries,
  completeRemoval,
  entriesOf,
  failEntry,
  recordPutStart,
} from '@secrets/sync-entries';
import { silentLogger } from '@secrets/telemetry';
import { associate } from '../../src/associations/associate.ts';
import { disassociate } from '../../src/associations/disassociate.ts';
import { linesByKey, presentAssociation } from '../../src/associations/present-association.ts';
import { FreedNames } from '../../src/changes/freed-names.ts';
import { type FollowContext, followSecret } from '../../src/changes/on-secret-change.ts';
import type { WatchedSecret } from '../../src/changes/secrets-client.ts';
import type { Context } from '../../src/context.ts';
import { withHoldersOf } from '../../src/destinations/rules/holders.ts';
import { findAssociation } from '../../src/queries/associations/associations.ts';
import { queueRoom } from '../../src/queue/queue-room.ts';

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

/** Approves the removals that are held. */
const approveRemovals = () =>
  db.query(
    `insert into sync.removal_brakes (destination_id, approved_at) select id, clock_timestamp() from sync.destinations
     on conflict (destination_id) do update set approved_at = excluded.approved_at`,
  );

/** A context in which the secrets service returns these states, one after the other. */
function contextSeeing(...states: WatchedSecret[]): Context {
  const unused = () => Promise.reject(new Error('not used here'));
  return {
    db,
    keyRing: undefined as never,
    secrets: {
      watch: async () => states.shift() ?? unused(),
      watchSeveral: unused,
      preview: unused,
      inspect: unused,
      revisions: unused,
      matching: unused,
      previews: unused,
      places: unused,
      awaitValue: unused,
      permitImport: () => {
        throw new Error('not used here');
      },
      close: async () => undefined,
    },
    policies: { mayRead: async () => true, mayDoEach: unused, mayDoBelow: unused },
    queue: {
      room: queueRoom(db),
      notify: () => undefined,
      publish: unused,
      lookSoon: async () => undefined,
      outcome: async () => undefined,
      arrival: async () => undefined,
      budgets: {},
      deadLetters: undefined as never,
    },
    prefix: 'secrets',
  };
}

const following = (): FollowContext => ({
  context: contextSeeing(),
  log: silentLogger(),
  brake: { limits: { minEntries: 50, share: 0.2 }, log: silentLogger() },
});

const wanted = () =>
  db.query<{ key: string; desired: string }>(
    'select sub_key as key, desired from sync.entries order by sub_key',
  );
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
    const association = await withHoldersOf(db, (await findAssociation(db, row!.id))!);
    return linesByKey(presentAssociation(association, await entriesOf(db, [association.id])));
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
        verified_at: null,
        drift: null,
        drift_seen_at: null,
        evidence: null,
        held_by_hand: true,
        held_by_rules: [],
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
    await new FreedNames(following()).advance(); // would throw if it read the secret: the name is still taken
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

  test('replace a key that is gone only once they are achieved', async () => {
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await follow(2, ['b']);
    await approveRemovals();
    await follow(2, ['b']);
    const rows = await db.query(
      `select e.sub_key as key, e.desired, w.sub_key as "waitsFor"
         from sync.entries e left join sync.entries w on w.id = e.waits_for order by e.sub_key`,
    );
    expect(rows).toEqual([
      { key: 'a', desired: 'absent', waitsFor: 'b' },
      { key: 'b', desired: 'present', waitsFor: null },
    ]);
  });

  test('that are gone after an approval need another one', async () => {
    await associate(contextSeeing(secretAt(1, ['a', 'b', 'c'])), testCaller(), request, 0);
    await follow(2, ['a', 'b']);
    await approveRemovals();
    await follow(3, ['a']);
    expect((await wanted()).every(({ desired }) => desired === 'present')).toBe(true);
  });

  test('are named by what the association was planned by, until it is set again', async () => {
    await associate(contextSeeing(secretAt(1, ['a'])), testCaller(), request, 0);
    await templateIs('new/{{ .SecretKey }}');
    await follow(2, ['a', 'b']);
    expect((await lines())['kv_1/s/b']).toMatchObject({ external_name: 's/b' });
    await granularityIs('secret-path');
    await follow(3, ['b', 'c']);
    await approveRemovals();
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

describe('a key whose external name is that of another key', () => {
  const follow = (revision: number, keys: string[]) =>
    followSecret(following(), { ...secretAt(revision, keys), ...ids });
  const claim = async (): Promise<ClaimedEntry> => {
    const rows = await db.query<{ id: string }>('select id from sync.entries');
    const entryIds = rows.map(({ id }) => id);
    const [held] = await claimEntries(db, {
      entryIds,
      destinationType: 'cloudA-sm',
      owner: 'w',
      leaseSeconds: 60,
    });
    return held!;
  };
  const achieved = { status: 'SYNCED', pushedHash: 'h', settingsHash: 's', remote: { version: 1 } } as const;
  const push = async () => completeEntries(db, [{ held: await claim(), achieved }]);
  const entry = async () => {
    const rows = await db.query<Record<string, unknown>>(
      `select id, sub_key as key, desired, status, external_name as name, pushed_hash as hash, remote,
              put_started_at is not null as started, due_at <= now() as due from sync.entries`,
    );
    expect(rows).toHaveLength(1);
    return rows[0]!;
  };
  const unnamed = async () =>
    (await db.query<{ keys: unknown }>('select unnamed_keys as keys from sync.associations'))[0]!.keys;

  beforeEach(async () => {
    await templateIs('x/{{ .SecretKey | lowercase }}');
    await associate(contextSeeing(secretAt(1, ['Pass'])), testCaller(), request, 0);
  });
  afterEach(() => templateIs(usualTemplate));

  test('takes over the external secret of the key that it replaces, with everything known of it', async () => {
    await recordPutStart(db, await claim());
    await db.query('update sync.entries set lease_owner = null, lease_until = null, due_at = now()');
    await push();
    const { id } = await entry();
    await follow(2, ['PASS']);
    const handedOver = { id, key: 'PASS', desired: 'present', status: 'PENDING', name: 'x/pass', due: true };
    expect(await entry()).toEqual({ ...handedOver, hash: 'h', remote: { version: 1 }, started: true });
    expect(await unnamed()).toEqual([]);
    expect(await claim()).toMatchObject({ id, subKey: 'PASS', desired: 'present' });
  });

  test('takes it over while a worker is pushing the value of the earlier one: the new value follows', async () => {
    const held = await claim();
    await follow(2, ['PASS']);
    await completeEntries(db, [{ held, achieved }]);
    expect(await entry()).toMatchObject({ key: 'PASS', status: 'PENDING', due: true });
    await push();
    expect(await entry()).toMatchObject({ key: 'PASS', status: 'SYNCED' });
  });

  test('takes it over after the earlier one has failed', async () => {
    const failed = {
      status: 'CLIENT_SIDE_ERROR',
      fault: 'forbidden',
      error: 'no',
      retryInSeconds: null,
    } as const;
    await failEntry(db, await claim(), failed);
    await follow(2, ['PASS']);
    expect(await claim()).toMatchObject({ subKey: 'PASS', desired: 'present', verify: true });
  });

  test('takes it over before, and during, its removal, if the key went with an earlier version', async () => {
    await push();
    await follow(2, []);
    await approveRemovals();
    await follow(2, []);
    expect(await entry()).toMatchObject({ key: 'Pass', desired: 'absent' });
    const removing = await claim();
    await follow(3, ['PASS']);
    expect(await entry()).toMatchObject({ key: 'PASS', desired: 'present', hash: 'h' });
    await completeRemoval(db, removing);
    expect(await entry()).toMatchObject({ key: 'PASS', status: 'PENDING', hash: null, due: true });
  });

  test('is refused while that key stays, with both keys in the reason, and takes over once it goes', async () => {
    await push();
    const before = await entry();
    await follow(2, ['PASS', 'Pass']);
    expect(await unnamed()).toEqual([
      { key: 'PASS', reason: 'keys Pass and PASS would both be named x/pass' },
    ]);
    expect(await entry()).toMatchObject({ id: before.id, key: 'Pass', desired: 'present' });
    await follow(3, ['PASS']);
    expect([await unnamed(), await entry()]).toEqual([
      [],
      expect.objectContaining({ id: before.id, key: 'PASS' }),
    ]);
  });

  test('is refused together with a third one that nothing was pushed for: one of them takes over', async () => {
    await push();
    await follow(2, ['PASS', 'pass']);
    expect(await entry()).toMatchObject({ key: 'PASS', desired: 'present', hash: 'h' });
    expect(await unnamed()).toEqual([
      { key: 'pass', reason: 'keys PASS and pass would both be named x/pass' },
    ]);
  });

  test('takes it over in a set, too', async () => {
    await push();
    await associate(contextSeeing(secretAt(2, ['PASS'])), testCaller(), request, 0);
    expect(await entry()).toMatchObject({ key: 'PASS', desired: 'present', hash: 'h' });
  });
});
