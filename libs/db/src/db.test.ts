import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Db, isUniqueViolation } from './db.ts';
import { migrate } from './migrations/migrate.ts';
import { createTestDb } from './testing.ts';

describe('Db', () => {
  let db: Db;
  const folder = mkdtempSync(join(tmpdir(), 'migrations-'));
  const schema = 'db_conformance';

  beforeAll(async () => {
    db = await createTestDb();
    writeFileSync(
      join(folder, '001.do.things.sql'),
      `create table ${schema}.things (id bigint generated always as identity primary key, name text unique, seen int default 0);
         create table ${schema}.others (id int);`,
    );
  });
  afterAll(async () => {
    await db.close();
    rmSync(folder, { recursive: true });
  });

  test('runs each migration once, also with concurrent callers', async () => {
    const applied = await Promise.all([migrate(db, { schema, folder }), migrate(db, { schema, folder })]);
    expect(applied.flat()).toHaveLength(1);
    expect(await migrate(db, { schema, folder })).toEqual([]);
  });

  test('rolls a failed migration back completely', async () => {
    writeFileSync(
      join(folder, '002.do.broken.sql'),
      `create table ${schema}.half (id int); select no_such_column;`,
    );
    await expect(migrate(db, { schema, folder })).rejects.toThrow(/db_conformance could not be migrated/);
    const [row] = await db.query<{ half: string | null }>(
      `select to_regclass('${schema}.half')::text as half`,
    );
    expect(row?.half).toBeNull();
    rmSync(join(folder, '002.do.broken.sql'));
  });

  test('refuses a migration that was changed after it ran', async () => {
    writeFileSync(join(folder, '001.do.things.sql'), `create table ${schema}.changed (id int);`);
    writeFileSync(join(folder, '002.do.more.sql'), `create table ${schema}.more (id int);`);
    await expect(migrate(db, { schema, folder })).rejects.toThrow(/MD5|checksum/i);
  });

  test('returns the documented JavaScript type for each column type', async () => {
    const [row] = await db.query(
      `select 9007199254740991::int8 as big, '\\x00ff'::bytea as bytes, '{"a":[1,null]}'::jsonb as json,
                '2026-01-02T03:04:05.678Z'::timestamptz as at, null::text as nothing, true as yes, array['x','y'] as list`,
    );
    expect(row).toMatchObject({
      big: 9007199254740991,
      json: { a: [1, null] },
      nothing: null,
      yes: true,
      list: ['x', 'y'],
    });
    const { at, bytes } = row as { at: Date; bytes: Uint8Array };
    expect(at.toISOString()).toBe('2026-01-02T03:04:05.678Z');
    expect([...bytes]).toEqual([0, 255]);
  });

  test('accepts JSON as text, arrays, bytes, dates and null as parameters', async () => {
    const [row] = await db.query<{
      json: unknown;
      found: boolean;
      bytes: Uint8Array;
      at: Date;
      none: null;
    }>(
      `select $1::jsonb as json, 'b' = any($2::text[]) as found, $3::bytea as bytes, $4::timestamptz as at, $5::text as none`,
      [JSON.stringify({ a: ['"', null] }), ['a', 'b'], Buffer.from([1, 0]), new Date(0), null],
    );
    expect(row).toMatchObject({ json: { a: ['"', null] }, found: true, none: null });
    expect([...row!.bytes]).toEqual([1, 0]);
    expect(row!.at.getTime()).toBe(0);
  });

  test('commits what resolves and rolls back what throws', async () => {
    await db.transaction((tx) => tx.query(`insert into ${schema}.things (name) values ('kept')`));
    const failed = db.transaction(async (tx) => {
      await tx.query(`insert into ${schema}.things (name) values ('gone')`);
      throw new Error('stop');
    });
    await expect(failed).rejects.toThrow('stop');
    const rows = await db.query(`select name from ${schema}.things order by name`);
    expect(rows).toEqual([{ name: 'kept' }]);
  });

  test('refuses the outer Db inside a transaction, instead of hanging', async () => {
    await expect(db.transaction(() => db.query('select 1'))).rejects.toThrow(/only its own handle/);
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  test('recognises a unique violation and its constraint', async () => {
    const error = await db
      .query(`insert into ${schema}.things (name) values ('kept')`)
      .catch((e: unknown) => e);
    expect(isUniqueViolation(error)).toBe(true);
    expect(isUniqueViolation(error, 'things_name_key')).toBe(true);
    expect(isUniqueViolation(error, 'another')).toBe(false);
  });

  test('concurrent transactions on one row lose no update', async () => {
    const bump = () =>
      db.transaction((tx) => tx.query(`update ${schema}.things set seen = seen + 1 where name = 'kept'`));
    await Promise.all(Array.from({ length: 20 }, bump));
    const [row] = await db.query(`select seen from ${schema}.things where name = 'kept'`);
    expect(row).toEqual({ seen: 20 });
  });
});
