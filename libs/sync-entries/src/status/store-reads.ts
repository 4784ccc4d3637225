import type { Sql } from '@secrets/db';
import { type StoreAnswer, StoreQuestion } from '@secrets/domain';
import type { EntryContext } from '../claims/entry-context.ts';
import { destinationColumns, isSyncing } from '../sql-fragments.ts';

/** A read of a store that a request waits for. */
export interface StoreRead {
  question: StoreQuestion;
  destination: EntryContext['destination'];
  laneId: string;
  /** Remaining time of the request that waits. */
  milliseconds: number;
}

type StoreReadRow = EntryContext['destination'] &
  Pick<StoreRead, 'laneId' | 'milliseconds'> & { question: unknown };

/**
 * Begins a read. Returns undefined if another worker has begun it, its request has ended, the destination is being
 * deleted, or syncing is disabled or held.
 */
export async function claimStoreRead(sql: Sql, id: string): Promise<StoreRead | undefined> {
  const [row] = await sql.query<StoreReadRow>(
    `update sync.store_reads r set started_at = now()
       from sync.destinations d
      where r.id = $1 and d.id = r.destination_id and d.deleted_at is null
        and r.started_at is null and r.ends_at > now() and ${isSyncing}
      returning r.question, (extract(epoch from r.ends_at - now()) * 1000)::float8 as milliseconds, d.lane_id as "laneId", d.id, ${destinationColumns}`,
    [id],
  );
  if (row === undefined) return undefined;
  const { question, laneId, milliseconds, ...destination } = row;
  return { question: StoreQuestion.parse(question), laneId, milliseconds, destination };
}

/** Records what a worker has found, unless the request has ended. */
export async function answerStoreRead(sql: Sql, id: string, answer: StoreAnswer): Promise<void> {
  await sql.query('update sync.store_reads set answer = $2::jsonb where id = $1', [
    id,
    JSON.stringify(answer),
  ]);
}
