import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Db, openPostgres, type Sql } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { consumeUse, readBatchToken, readServiceToken } from './read-access.ts';
import { type BatchToken, tokenHash } from './tokens/token.ts';

let testDb: Awaited<ReturnType<typeof openTestDb>>;
let db: Db;

beforeAll(async () => {
  testDb = await openTestDb();
  db = openPostgres({ url: testDb.url, connections: 1 });
});
afterAll(async () => {
  await db.close();
  await testDb.close();
});

/** Inserts tokens with an entity each, the children of `t1`. Their texts are their accessors. */
const insertTokens = (from: number, to: number) =>
  testDb.query(
    `with entity as (
       insert into login.entities (id, namespace_id, policies)
         select md5('e' || n)::uuid, 'root', '{default}' from generate_series($1::int, $2::int) n returning 1
     ), alias as (
       insert into login.entity_aliases (mount_id, name, entity_id)
         select md5('m')::uuid, 'e' || n, md5('e' || n)::uuid from generate_series($1::int, $2::int) n returning 1
     )
     insert into login.tokens (hash, accessor, parent_accessor, namespace_id, display_name, creation_path, policies, renewable, ttl_seconds, entity_id)
       select sha256(convert_to('t' || n, 'UTF8')), 't' || n, case when n > 1 then 't1' end, 'root', '', '', '{default}', true, 0, md5('e' || n)::uuid
       from generate_series($1::int, $2::int) n`,
    [from, to],
  );

const payload = { namespace_id: 'root', policies: ['default'], parent_accessor: 't2', mount_id: null };
const batchToken = { ...payload, entity_id: null } as unknown as BatchToken;

// A plan is kept by its connection until the table is analysed again, which may take a minute after it has grown.
test('a check that was planned when the tables were almost empty does not read all of them after they have grown', async () => {
  const checkAll = async (sql: Sql) => {
    expect((await readServiceToken(sql, tokenHash('t2'))).row).toMatchObject({ accessor: 't2' });
    expect((await readBatchToken(sql, batchToken)).row).toMatchObject({ parent_exists: true });
    expect(await consumeUse(sql, tokenHash('t2'))).toBe(false);
  };
  await insertTokens(1, 2);
  await testDb.query('analyze login.tokens, login.entities, login.entity_aliases');
  await checkAll(db);
  await insertTokens(3, 3_000);
  const scanned = await db.transaction(async (tx) => {
    await checkAll(tx);
    return tx.query(
      `select relname from pg_class where relnamespace = 'login'::regnamespace and relkind = 'r'
         and pg_stat_get_xact_tuples_returned(oid) > 1000`,
    );
  });
  expect(scanned).toEqual([]);
});
