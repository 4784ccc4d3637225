import type { Sql } from '@secrets/db';
import { StoreAnswer, type StoreQuestion } from '@secrets/domain';
import { isSyncing } from '@secrets/sync-entries';

/** A read of a store that is requested: of which destination, what is asked, and how many seconds it may take. */
interface NewStoreRead {
  destinationId: string;
  destinationType: string;
  question: StoreQuestion;
  seconds: number;
}

export async function insertStoreRead(sql: Sql, read: NewStoreRead): Promise<string> {
  const [row] = await sql.query<{ id: string }>(
    `insert into sync.store_reads (destination_id, destination_type, question, ends_at)
     values ($1, $2, $3::jsonb, now() + $4 * interval '1 second') returning id`,
    [read.destinationId, read.destinationType, JSON.stringify(read.question), read.seconds],
  );
  return row!.id;
}

/** The state of a read that a request waits for. */
interface StoreReadProgress {
  /** The answer of the worker; undefined until there is one. */
  answer: StoreAnswer | undefined;
  /** Whether no worker begins it, because syncing was disabled or held meanwhile. */
  isBlocked: boolean;
}

/** Returns undefined if its destination was deleted in the meantime. */
export async function findStoreRead(sql: Sql, id: string): Promise<StoreReadProgress | undefined> {
  const [row] = await sql.query<{ answer: unknown; isBlocked: boolean }>(
    `select answer, started_at is null and not ${isSyncing} as "isBlocked"
       from sync.store_reads where id = $1`,
    [id],
  );
  return row && { ...row, answer: row.answer === null ? undefined : StoreAnswer.parse(row.answer) };
}

/** Deletes a read. Returns whether a worker has begun it; undefined if its destination was deleted in the meantime. */
export async function deleteStoreRead(sql: Sql, id: string): Promise<{ isStarted: boolean } | undefined> {
  const [row] = await sql.query<{ isStarted: boolean }>(
    'delete from sync.store_reads where id = $1 returning started_at is not null as "isStarted"',
    [id],
  );
  return row;
}

/** Deletes reads that were requested more than ten minutes ago, at most `limit`: the process of their request has died. */
export async function deleteOldStoreReads(sql: Sql, limit: number): Promise<void> {
  await sql.query(
    `delete from sync.store_reads
      where id = any(array(
        select id from sync.store_reads
         where requested_at < now() - interval '10 minutes' order by requested_at limit $1 for update skip locked))`,
    [limit],
  );
}
