import { readFileSync } from 'node:fs';
import { type Db, openPostgres, type Tx } from '@secrets/db';
import { isLongRun } from '../../../../tests/harness/run-size.ts';
import { preparedDb } from '../role-for-test.ts';

/**
 * Tables that are filled without a write-ahead log and indexes, which are created afterwards: that is faster. A table follows
 * those that refer to it.
 */
const largeTables = [
  'login.rate_limit_usage',
  'login.wrapped_responses',
  'login.tokens',
  'login.entity_aliases',
  'login.entities',
  'secrets.versions',
  'secrets.outbox',
  'secrets.secrets',
  'sync.deleted_destinations',
  'sync.events',
  'sync.outcome_minutes',
  'sync.entry_history',
  'sync.entries',
  'sync.rule_holds', // before what it refers to
  'sync.associations',
];

/** Large enough that a plan which reads a whole table exceeds the limits by far. */
const shortRunDivisor = 4;

/**
 * Creates a database with the roles of all services and the rows of seed.sql. Its statements use one connection.
 * `close` drops it.
 */
export async function openSeededDb(): Promise<Db> {
  const prepared = await preparedDb();
  const db = openPostgres({ url: prepared.url, connections: 1, statementTimeoutMs: 300_000 });
  await db.transaction(seed, { isUnlimited: true });
  return {
    ...db,
    close: async () => {
      await db.close();
      await prepared.close();
    },
  };
}

/** A state of the tables in which statements are planned and executed. */
export interface State {
  name: string;
  /** Changes the tables from the state before. */
  enter(db: Db): Promise<void>;
  /** Whether only long runs reach it. */
  isLong?: boolean;
}

/** The first state is that of a restore, which analyses nothing: https://www.postgresql.org/docs/current/app-pgrestore.html */
export const restored: State = { name: 'after a restore, without statistics', enter: async () => undefined };

export const analysed: State = {
  name: 'after an analysis',
  enter: async (db) => void (await db.query('vacuum (analyze)')),
  isLong: true,
};

/** The statistics are from before. The destinations of which cases name few entries keep all of them. */
export const emptied: State = {
  name: 'after 90 % of the entries were deleted',
  enter: async (db) => {
    await db.query(
      `delete from sync.entries using sync.destinations d
        where d.id = destination_id and d.name !~ '^d(21|921)$' and d.type <> 'codehost' and hashtext(entries.id::text) % 10 <> 0`,
    );
    await db.query('vacuum');
  },
  isLong: true,
};

async function seed(tx: Tx): Promise<void> {
  await tx.script(`set local work_mem = '256MB'; set local maintenance_work_mem = '256MB'`);
  await tx.script('set local session_replication_role = replica'); // no checks of foreign keys
  await tx.script('alter table sync.destinations enable always trigger own_lane');
  for (const table of largeTables) await tx.script(`alter table ${table} set unlogged`);
  for (const table of await allTables(tx))
    await tx.script(`alter table ${table} set (autovacuum_enabled = off)`);
  const { drop, create } = await indexStatements(tx);
  for (const statement of drop) await tx.script(statement);
  await tx.script(
    `create function pg_temp.scaled(count int) returns int immutable return count / ${isLongRun ? 1 : shortRunDivisor}`,
  );
  await tx.script(readFileSync(`${import.meta.dirname}/seed.sql`, 'utf8'));
  for (const statement of create) await tx.script(statement);
}

/** Returns the statements that drop and create the indexes of the large tables, except those that foreign keys refer to. */
async function indexStatements(tx: Tx): Promise<{ drop: string[]; create: string[] }> {
  const rows = await tx.query<{ drop: string; create: string }>(
    `select case when conname is null then format('drop index %s', indexrelid::regclass)
                 else format('alter table %s drop constraint %I', indrelid::regclass, conname) end as drop,
            case when conname is null then pg_get_indexdef(indexrelid)
                 else format('alter table %s add constraint %I %s', indrelid::regclass, conname, pg_get_constraintdef(c.oid)) end as create
       from pg_index left join pg_constraint c on c.conindid = indexrelid and c.contype in ('p', 'u')
      where indrelid = any($1::regclass[])
        and not exists (select from pg_constraint where conindid = indexrelid and contype = 'f')`,
    [largeTables],
  );
  return { drop: rows.map(({ drop }) => drop), create: rows.map(({ create }) => create) };
}

async function allTables(tx: Tx): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace in ('login'::regnamespace, 'secrets'::regnamespace, 'sync'::regnamespace)`,
  );
  return rows.map(({ name }) => name);
}
