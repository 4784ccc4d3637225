import type { Sql } from '@secrets/db';
import type { SealedSchema } from './seal-keys.ts';
import type { RowKey } from './sealed-table.ts';

/** The newest rotation of a schema. */
export interface RotationRow {
  keyId: string;
  startedAt: Date;
  passStartedAt: Date;
  /** Where the pass is; null between two passes. */
  atTable: string | null;
  afterKey: RowKey | null;
  checked: number;
  encrypted: number;
  locked: number;
  unreadable: number;
  finishedAt: Date | null;
}

const columns = `key_id as "keyId", started_at as "startedAt", pass_started_at as "passStartedAt", at_table as "atTable",
  after_key as "afterKey", checked, encrypted, locked, unreadable, finished_at as "finishedAt"`;

export async function findRotation(sql: Sql, schema: SealedSchema): Promise<RotationRow | undefined> {
  const [row] = await sql.query<RotationRow>(`select ${columns} from ${schema}.seal_rotation`);
  return row;
}

/** Locks the rotation if it is unfinished, and no other process works on it. */
export async function lockRotation(sql: Sql, schema: SealedSchema): Promise<RotationRow | undefined> {
  const [row] = await sql.query<RotationRow>(
    `select ${columns} from ${schema}.seal_rotation where finished_at is null for update skip locked`,
  );
  return row;
}

/** Begins a rotation from the first row of the first table, unless one to this key is unfinished. */
export async function beginRotation(
  sql: Sql,
  schema: SealedSchema,
  keyId: string,
  firstTable: string,
): Promise<void> {
  await sql.query(
    `insert into ${schema}.seal_rotation as r (key_id, at_table) values ($1, $2)
     on conflict (only_one) do update set key_id = excluded.key_id, at_table = excluded.at_table, started_at = now(),
       pass_started_at = now(), after_key = null, checked = 0, encrypted = 0, locked = 0, unreadable = 0, finished_at = null
     where r.key_id <> excluded.key_id or r.finished_at is not null`,
    [keyId, firstTable],
  );
}

/** Records that there is nothing to do, unless an earlier rotation is recorded. */
export async function recordFinished(sql: Sql, schema: SealedSchema, keyId: string): Promise<void> {
  await sql.query(
    `insert into ${schema}.seal_rotation (key_id, finished_at) values ($1, now()) on conflict do nothing`,
    [keyId],
  );
}

/** Counts and position after one page. */
export interface PageResult {
  atTable: string;
  afterKey: RowKey | null;
  checked: number;
  encrypted: number;
  locked: number;
  unreadable: number;
}

/** Records a page, and where the next one begins. */
export async function recordPage(sql: Sql, schema: SealedSchema, page: PageResult): Promise<void> {
  await sql.query(
    `update ${schema}.seal_rotation set at_table = $1, after_key = $2, checked = checked + $3, encrypted = encrypted + $4,
       locked = locked + $5, unreadable = unreadable + $6`,
    [page.atTable, page.afterKey, page.checked, page.encrypted, page.locked, page.unreadable],
  );
}

/** Begins another pass. */
export async function beginPass(sql: Sql, schema: SealedSchema, firstTable: string): Promise<void> {
  await sql.query(
    `update ${schema}.seal_rotation set at_table = $1, after_key = null, pass_started_at = now(), checked = 0, locked = 0, unreadable = 0`,
    [firstTable],
  );
}

/** Ends the pass: the rotation is finished, or another pass has to follow. */
export async function endPass(sql: Sql, schema: SealedSchema, isFinished: boolean): Promise<void> {
  await sql.query(
    `update ${schema}.seal_rotation set at_table = null, after_key = null, finished_at = case when $1 then now() end`,
    [isFinished],
  );
}

/** About how many rows these tables have, by the statistics of the server. */
export async function estimateRows(sql: Sql, tables: readonly string[]): Promise<number> {
  const [row] = await sql.query<{ rows: number }>(
    `select coalesce(sum(greatest(reltuples, 0)), 0)::bigint as rows from pg_class where oid = any($1::text[]::regclass[])`,
    [tables],
  );
  return row?.rows ?? 0;
}
