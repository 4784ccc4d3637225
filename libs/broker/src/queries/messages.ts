import type { Sql } from '@secrets/db';

export interface StoredMessage {
  /** The message's place in its queue. */
  id: number;
  messageId: string;
  text: string;
  /** How often it was delivered and given back. */
  deliveries: number;
}

/** All messages of one publication, in one statement and in their order. */
export async function insertMessages(sql: Sql, queue: string, texts: readonly string[]): Promise<void> {
  await sql.query(
    `insert into broker.messages (queue, body)
     select $1, body from unnest($2::text[]) with ordinality as given (body, place) order by place`,
    [queue, texts],
  );
}

/** The next messages of a queue behind a place. */
export async function pageOfMessages(
  sql: Sql,
  queue: string,
  afterId: number,
  limit: number,
): Promise<StoredMessage[]> {
  return await sql.query<StoredMessage>(
    `select id, message_id as "messageId", body as text, deliveries from broker.messages
     where queue = $1 and id > $2 order by queue, id limit $3`,
    [queue, afterId, limit],
  );
}

export async function deleteMessages(sql: Sql, queue: string, ids: readonly number[]): Promise<void> {
  await sql.query('delete from broker.messages where queue = $1 and id = any($2::int8[])', [queue, ids]);
}

/** Puts messages at the end of their queue, one delivery older. */
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

export interface StoredCounts {
  queue: string;
  waiting: number;
  deadLetters: number;
}

/** Counts everything; for the start, after which the counts are kept in memory. */
export async function countMessages(sql: Sql): Promise<StoredCounts[]> {
  return await sql.query<StoredCounts>(
    `select queue, sum(waiting)::int8 as waiting, sum(dead_letters)::int8 as "deadLetters" from (
       select queue, count(*) as waiting, 0 as dead_letters from broker.messages group by queue
       union all
       select queue, 0 as waiting, count(*) as dead_letters from broker.parked group by queue
     ) as counts group by queue`,
  );
}

/** Gives the room of deleted rows back; an embedded database has nobody else to do so. */
export async function vacuumMessages(sql: Sql): Promise<void> {
  await sql.query('vacuum broker.messages');
}
