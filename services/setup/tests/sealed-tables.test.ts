import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { sealedTables as inLogin } from '../../login/src/sealed-tables.ts';
import { sealedTables as inSecrets } from '../../secrets/src/sealed-tables.ts';
import { sealedTables as inSync } from '../../sync-control/src/destinations/sealed-tables.ts';

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());

// A column that a rotation does not know would keep the older key, which is then removed.
test('a rotation of the seal keys knows every column with sealed bytes', async () => {
  const columns = await db.query<{ name: string }>(
    `select c.table_schema || '.' || c.table_name || '.' || c.column_name as name
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema in ('login', 'secrets', 'sync', 'broker') and t.table_type = 'BASE TABLE'
       and c.data_type = 'bytea' and c.column_name not like '%hash'
     order by 1`,
  );
  const known = [...inLogin, ...inSecrets, ...inSync].map(({ name, column }) => `${name}.${column}`);
  expect(columns.map(({ name }) => name)).toEqual(known.sort());
});

test('the primary key of each of these tables is the one by which a rotation goes through it', async () => {
  for (const { name, key } of [...inLogin, ...inSecrets, ...inSync]) {
    const columns = await db.query<{ name: string; type: string }>(
      `select a.attname as name, format_type(a.atttypid, null) as type from pg_index i
       cross join unnest(i.indkey) with ordinality k(number, position)
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
       where i.indrelid = $1::text::regclass and i.indisprimary order by k.position`,
      [name],
    );
    expect(columns.map(({ name: column, type }) => [column, type])).toEqual(key);
  }
});
