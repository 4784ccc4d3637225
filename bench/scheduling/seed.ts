import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@secrets/testing';
import type pg from 'pg';
import type { Api } from '../system/api-client.ts';
import { type BusyDestination, queueByApi, type } from './busy-destination.ts';

const keys = 10; // of each association

/**
 * Queues entries, in associations of ten. The first association is set through the API. The others are copies of its
 * rows, because setting 100,000 of them takes minutes. Returns when their events are processed, and all of it is on
 * disk.
 */
export async function queueEntries(
  { api, database }: { api: Api; database: pg.Client },
  destination: BusyDestination,
  entries: number,
): Promise<void> {
  await queueByApi(api, destination, keys);
  const copies = Math.ceil(entries / keys) - 1;
  const copy = (from: number, to: number) =>
    database.query(copyAssociation, [type, destination.name, from, to, keys]);
  await copy(1, copies - 1);
  // Separately: sync-control deletes events by the number of the newest one, and an attempt meanwhile may have drawn a
  // low number.
  if (copies > 0) await copy(copies, copies);
  await database.query('vacuum (analyze) sync.entries, sync.associations'); // as autovacuum does later
  await database.query('select pg_stat_force_next_flush()');
  await untilEventsAreProcessed(database);
  // Otherwise, the disk is still writing what was inserted, and single commits wait for it.
  await database.query('checkpoint');
}

const copyAssociation = `
  with original as (
    select a.* from sync.associations a join sync.destinations d on d.id = a.destination_id
     where d.type = $1 and d.name = $2 and a.secret_name = d.name || '/0'
  ), copies as (
    insert into sync.associations (destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
    select destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name || '/' || n, planned_revision
      from original, generate_series($3::int, $4::int) as n
    returning id, destination_id, secret_name
  )
  insert into sync.entries (association_id, destination_id, destination_type, sub_key, external_name, collision_key)
  select c.id, c.destination_id, $1, 'k' || k, named.name, named.name
    from copies c, generate_series(0, $5::int - 1) as k,
         lateral (select 'busy/' || c.secret_name || '/k' || k as name) as named`;

/** Waits until sync-control has counted the events of what was inserted, and deleted those that it does not keep. */
async function untilEventsAreProcessed(database: pg.Client): Promise<void> {
  let last: string | undefined;
  const isProcessed = async (): Promise<boolean> => {
    const { rows } = await database.query<{ swept: string; isCounted: boolean }>(eventProgress, [fewEvents]);
    const { swept, isCounted } = rows[0]!;
    const isSwept = last !== undefined && Number(swept) - Number(last) < fewEvents;
    last = swept;
    return isCounted && isSwept;
  };
  await eventually(isProcessed, { timeoutMs: 600_000, intervalMs: 2_000 });
}

/** Attempts at the entries add events all the time, but fewer than this within two seconds. */
const fewEvents = 1_000;

const eventProgress = `
  select p.swept_id as swept, not exists (
           select from sync.events e where (e.xid, e.id) > (p.counted_xid, p.counted_id) offset $1::int) as "isCounted"
    from sync.event_progress p`;

/**
 * Deletes all entries and associations of destinations. Waits for calls in progress, so that they do not disturb what
 * follows.
 */
export async function deleteEntries(
  database: pg.Client,
  destinations: readonly BusyDestination[],
): Promise<void> {
  const names = [type, destinations.map(({ name }) => name)];
  const ofThese = '(select id from sync.destinations where type = $1 and name = any($2::text[]))';
  for (;;) {
    await database.query(
      `delete from sync.entries where destination_id in ${ofThese} and coalesce(lease_until, now()) <= now()`,
      names,
    );
    const { rows } = await database.query(
      `select from sync.entries where destination_id in ${ofThese} limit 1`,
      names,
    );
    if (rows.length === 0) break;
    await sleep(100);
  }
  await database.query(`delete from sync.associations where destination_id in ${ofThese}`, names);
  await database.query('vacuum (analyze) sync.entries, sync.associations');
}
