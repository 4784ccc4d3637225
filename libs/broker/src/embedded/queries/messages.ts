import type { Sql } from '@secrets/db';
import type { DeadLetterSelection } from '../../broker.ts';

export interface StoredMessage {
  /** Its position in the queue. */
  id: number;
  messageId: string;
  text: string;
  /** How often it was delivered and requeued. */
  deliveries: number;
  traceparent: string | null;
}

/** Inserts the messages of one publication, in their order. Those without a trace have null, or are beyond the end of the traces. */
export async function insertMessages(
  sql: Sql,
  queue: string,
  texts: readonly string[],
  traceparents: readonly (string | null | undefined)[] = [],
): Promise<void> {
  await sql.query(
    `insert into broker.messages (queue, body, traceparent)
     select $1, body, traceparent
       from unnest($2::text[], $3::text[]) with ordinality as given (body, traceparent, place) order by place`,
    [queue, texts, traceparents.map((one) => one ?? null)],
  );
}

/** Returns the next messages of a queue after a position. */
export async function pageOfMessages(
  sql: Sql,
  queue: string,
  afterId: number,
  limit: number,
): Promise<StoredMessage[]> {
  return await sql.query<StoredMessage>(
    `select id, message_id as "messageId", body as text, deliveries, traceparent from broker.messages
     where queue = $1 and id > $2 order by queue, id limit $3`,
    [queue, afterId, limit],
  );
}

export async function deleteMessages(sql: Sql, queue: string, ids: readonly number[]): Promise<void> {
  await sql.query('delete from broker.messages where queue = $1 and id = any($2::int8[])', [queue, ids]);
}

/** Moves messages to the end of their queue and counts one delivery more. */
export async function requeueMessages(sql: Sql, queue: string, ids: readonly number[]): Promise<void> {
  await sql.query(
    `update broker.messages set id = default, deliveries = deliveries + 1
     where queue = $1 and id = any($2::int8[])`,
    [queue, ids],
  );
}

export async function moveToDeadLetters(sql: Sql, queue: string, ids: readonly number[]): Promise<void> {
  await sql.query(
    `with gone as (
       delete from broker.messages where queue = $1 and id = any($2::int8[])
       returning queue, id, message_id, body, deliveries + 1 as deliveries, published_at
     )
     insert into broker.parked (queue, id, message_id, body, deliveries, published_at)
     select queue, id, message_id, body, deliveries, published_at from gone`,
    [queue, ids],
  );
}

export async function readDeadLetters(
  sql: Sql,
  queue: string,
  limit: number,
): Promise<{ messageId: string; text: string }[]> {
  return await sql.query(
    `select message_id as "messageId", body as text from broker.parked where queue = $1 order by queue, id limit $2`,
    [queue, limit],
  );
}

/** SQL: those of the oldest `$2` dead letters of queue `$1` that have one of the message IDs `$3`; all of them if that is null. */
const selectedDeadLetters = `
  delete from broker.parked where queue = $1 and id = any(array(
    select id from (select id, message_id from broker.parked where queue = $1 order by queue, id limit $2) as oldest
     where $3::text[] is null or message_id::text = any($3::text[])))`;

/** Moves dead letters to the end of their queue, as if they were published again; returns how many. */
export async function moveBackDeadLetters(
  sql: Sql,
  queue: string,
  { messageIds, limit }: DeadLetterSelection,
): Promise<number> {
  const rows = await sql.query(
    `with gone as (${selectedDeadLetters} returning id, body)
     insert into broker.messages (queue, body) select $1, body from gone order by id returning id`,
    [queue, limit, messageIds ?? null],
  );
  return rows.length;
}

/** Deletes dead letters; returns how many. */
export async function deleteDeadLetters(
  sql: Sql,
  queue: string,
  { messageIds, limit }: DeadLetterSelection,
): Promise<number> {
  const rows = await sql.query(`${selectedDeadLetters} returning id`, [queue, limit, messageIds ?? null]);
  return rows.length;
}

export interface StoredCounts {
  queue: string;
  waiting: number;
  deadLetters: number;
}

/** Counts the messages of every queue. For startup only: it reads both tables completely. */
export async function countMessages(sql: Sql): Promise<StoredCounts[]> {
  return await sql.query<StoredCounts>(
    `select queue, sum(waiting)::int8 as waiting, sum(dead_letters)::int8 as "deadLetters" from (
       select queue, count(*) as waiting, 0 as dead_letters from broker.messages group by queue
       union all
       select queue, 0 as waiting, count(*) as dead_letters from broker.parked group by queue
     ) as counts group by queue`,
  );
}

/** Frees the space of deleted rows sooner than autovacuum does. */
export async function vacuumMessages(sql: Sql): Promise<void> {
  await sql.query('vacuum broker.messages');
}
