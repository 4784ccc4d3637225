import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Db, migrate, openPostgres } from '@secrets/db';
import { type ServerPair, startServerPair } from '@secrets/db/standby-testing';
import { serviceSchemas } from '@secrets/schemas';
import { openTestDb } from '@secrets/schemas/testing';
import {
  claimCheck,
  claimStoreRead,
  confirmClaims,
  confirmInstallation,
  findInspectable,
  findLeftProbe,
  readInstallation,
  recordInstallation,
  reportInstallation,
} from '../src/index.ts';
import { entriesForTest, pushed } from './entries-for-test.ts';

const { db, destinationId, add, claim, complete } = entriesForTest();

beforeEach(() =>
  db.query(
    `update sync.installation set name = null, other_name = null, held_because = null, system_identifier = null, database_oid = null,
       table_oid = null, timeline = null, place = null, server_started_at = null, alive_at = null, confirmed_at = null`,
  ),
);

const heldBecause = async (sql: Db = db) => (await readInstallation(sql)).heldBecause;
/** Whether nothing may be sent outside, as every claim asks it. */
const isHeld = async (sql: Db = db) => (await sql.query('select id from sync.held')).length === 1;
const confirm = (name?: string) => db.transaction((tx) => confirmInstallation(tx, { name }));
/** Does what sync-control does when it starts, and every second. */
const start = async (name?: string, sql: Db = db, place?: string) => {
  await recordInstallation(sql, { name, place });
  await reportInstallation(sql, name);
};
/** Makes the stored row look as if the server had been started again since. */
const restartServer = (...also: string[]) =>
  db.query(
    `update sync.installation set ${["server_started_at = server_started_at - interval '1 hour'", ...also].join()}`,
  );

describe('nothing is held', () => {
  test.each([
    ['an existing installation after the upgrade', [undefined], null],
    ['one whose services restart', ['prod', 'prod'], 'prod'],
    ['one that gets its first name', [undefined, 'prod'], 'prod'],
    ['one whose name is no longer set', ['prod', undefined], 'prod'],
  ])('at the start of %s', async (_, names, stored) => {
    for (const name of names) {
      expect(await isHeld()).toBe(false);
      await start(name);
    }
    expect(await isHeld()).toBe(false);
    expect(await readInstallation(db)).toEqual({ name: stored, otherName: null, heldBecause: null });
    expect(await confirm('another')).toBe(false);
  });

  test('where the server does not show what identifies it', async () => {
    await start();
    await restartServer('system_identifier = null', 'timeline = null');
    await start();
    expect([await heldBecause(), await isHeld()]).toEqual([null, false]);
  });

  test.each([
    ['the server restarts', () => restartServer()],
    [
      'sync-control is away for an hour',
      () => db.query(`update sync.installation set alive_at = now() - interval '1 hour'`),
    ],
    [
      'the server restarts while sync-control is away',
      () => restartServer(`alive_at = now() - interval '1 hour'`),
    ],
  ])('when %s', async (_, happen) => {
    await start('prod', db, 'here');
    await happen();
    await start('prod', db, 'here');
    expect([await heldBecause(), await isHeld()]).toEqual([null, false]);
  });

  test.each([
    [1, null],
    [16, 'recovery'],
  ] as const)(
    'on another timeline, unless nobody has seen the one before for 15 minutes: %d minutes',
    async (minutes, expected) => {
      await start();
      await restartServer(`timeline = '0000FFFF'`, `alive_at = now() - interval '${minutes} minutes'`);
      for (const _ of ['noticed', 'kept']) {
        await start();
        expect([await heldBecause(), await isHeld()]).toEqual([expected, expected !== null]);
      }
    },
  );
});

describe('everything is held', () => {
  test('for all that makes a worker call a provider, until the installation is confirmed', async () => {
    const [waiting, looked] = [await add('waiting'), await add('looked')];
    const held = { entry: (await claim(waiting))!, destinationRevision: '1' };
    await complete((await claim(looked))!, pushed);
    const [due, unstarted, left] = [await add('due'), await addCheck('null'), await addCheck('now()')];
    const read = await addRead();
    const attempt = async () => ({
      claim: (await claim(due)) !== undefined,
      confirmation: (await confirmClaims(db, [held])).size === 1,
      check: (await claimCheck(db, unstarted)) !== undefined,
      probe: (await findLeftProbe(db, left)) !== undefined,
      look: (await findInspectable(db, looked)) !== undefined,
      read: (await claimStoreRead(db, read)) !== undefined,
    });
    await start('prod');
    await reportInstallation(db, 'copy');
    expect(Object.values(await attempt())).toEqual(Array(6).fill(false));
    expect(await confirm('copy')).toBe(true);
    expect(await attempt()).toEqual({
      claim: true,
      confirmation: true,
      check: true,
      probe: true,
      look: true,
      read: true,
    });
    expect(await readInstallation(db)).toEqual({ name: 'copy', otherName: null, heldBecause: null });
  });

  test('in one place: no other statement reads the switch', () => {
    const source = join(import.meta.dirname, '../src');
    const readers = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter(
      (file) =>
        file.endsWith('.ts') &&
        readFileSync(join(source, file), 'utf8').includes('sync.config where disabled'),
    );
    expect(readers).toEqual(['sql-fragments.ts']);
  });

  test('if two services start with different names at once, and again while one of them runs with the wrong one', async () => {
    await Promise.all([start('a'), start('b')]);
    await Promise.all([start('a'), start('b')]);
    const { name, otherName, heldBecause } = await readInstallation(db);
    expect([[name, otherName].sort(), heldBecause]).toEqual([['a', 'b'], 'installation']);
    await confirm('a');
    await start('a');
    expect(await readInstallation(db)).toEqual({ name: 'a', otherName: null, heldBecause: null });
    await start('b');
    expect(await readInstallation(db)).toEqual({ name: 'a', otherName: 'b', heldBecause: 'installation' });
  });

  test('also if a process with another name dies before it has reported it, once it starts again', async () => {
    await start('prod');
    await recordInstallation(db, { name: 'copy' });
    expect(await readInstallation(db)).toMatchObject({ name: 'prod', heldBecause: null });
    await start('copy');
    expect(await heldBecause()).toBe('installation');
  });

  test('from the first moment of a copy, before anything has compared it', async () => {
    const due = await add('early');
    await start();
    await restartServer();
    expect([await heldBecause(), (await claim(due)) === undefined]).toEqual([null, true]);
    await start();
    expect(await claim(due)).toBeDefined();
  });

  test('if the files of an embedded database were copied to another place', async () => {
    await start(undefined, db, 'here');
    await start(undefined, db, 'there');
    expect([await heldBecause(), await isHeld()]).toEqual(['database', true]);
  });

  test('if the tables were restored from a dump, also into the same database', async () => {
    await start();
    const [view] = await db.query<{ text: string }>(`select pg_get_viewdef('sync.held'::regclass) as text`);
    await db.query('drop view sync.held');
    await db.query('alter table sync.installation rename to dumped');
    await db.query('create table sync.installation (like sync.dumped including all)');
    await db.query('insert into sync.installation select * from sync.dumped');
    await db.query('drop table sync.dumped');
    await db.query(`create view sync.held as ${view!.text}`);
    expect(await isHeld()).toBe(true);
    await start();
    expect(await heldBecause()).toBe('database');
    expect(await confirm()).toBe(true);
    expect([await heldBecause(), await isHeld()]).toEqual([null, false]);
  });

  test('if it is confirmed before anything has noticed that it was restored', async () => {
    await start();
    await restartServer('database_oid = 1');
    expect(await confirm()).toBe(true);
    expect(await isHeld()).toBe(false);
  });
});

async function addCheck(endedAt: 'null' | 'now()'): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    `insert into sync.destination_checks (destination_id, destination_type, external_name, ends_at, started_at, ended_at)
     values ($1, 'cloudA-sm', 'probe', now() + interval '1 minute', ${endedAt}, ${endedAt}) returning id`,
    [destinationId()],
  );
  return row!.id;
}

async function addRead(): Promise<string> {
  const [row] = await db.query<{ id: string }>(
    `insert into sync.store_reads (destination_id, destination_type, question, ends_at)
     values ($1, 'cloudA-sm', '{"after": {"page": null, "name": ""}, "limit": 1}', now() + interval '1 minute') returning id`,
    [destinationId()],
  );
  return row!.id;
}

describe('a server whose standby is promoted', () => {
  let folder: string;
  let pair: ServerPair;
  let primary: Db;
  let copy: Db;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pair-'));
    pair = await startServerPair({ folder });
    primary = openPostgres({ url: pair.url });
    for (const schema of serviceSchemas) await migrate(primary, schema);
    copy = await openTestDb();
  });
  afterAll(async () => {
    await copy?.close();
    await primary?.close();
    await pair?.close();
    rmSync(folder, { recursive: true });
  });

  /** Brings along what a dump does that is restored into another server. */
  async function restoreInto(target: Db): Promise<void> {
    const [dump] = await primary.query<{ row: string }>(
      'select to_jsonb(i)::text as row from sync.installation i',
    );
    await target.query('delete from sync.installation');
    await target.query(
      'insert into sync.installation select (jsonb_populate_record(null::sync.installation, $1::text::jsonb)).*',
      [dump!.row],
    );
  }
  const timeline = async () =>
    (await primary.query<{ timeline: string }>('select timeline from sync.installation'))[0]!.timeline;

  test('is not held, but a copy of its data on another server is', async () => {
    await start('prod', primary);
    const before = await timeline();
    await pair.primary.stop('SIGKILL');
    pair.switchAddress();
    await pair.promote();
    expect(await isHeld(primary)).toBe(true); // until it was compared, a second later
    await start('prod', primary);
    expect(await timeline()).not.toBe(before);
    expect([await heldBecause(primary), await isHeld(primary)]).toEqual([null, false]);
    await restoreInto(copy);
    expect(await isHeld(copy)).toBe(true);
    await start('prod', copy);
    expect(await heldBecause(copy)).toBe('database');
  });
});
