import { openPostgres } from '../../../libs/db/src/index.ts';
import type { LeaseChange } from '../check/leases.ts';

/** Has the database record each change of who holds an entry, in the transaction of the change. */
export const recordLeases = (url: string): Promise<void> =>
  onDatabase(url, async (query) => {
    await query('create schema fire');
    await query(
      `create table fire.lease_changes (id bigserial primary key, entry_id uuid, before text, after text, was_held boolean, process text)`,
    );
    await query(
      `create function fire.record() returns trigger language plpgsql security definer as $$
       begin
         insert into fire.lease_changes (entry_id, before, after, was_held, process) values (
           old.id, old.lease_owner, case when tg_op = 'UPDATE' then new.lease_owner end,
           coalesce(old.lease_until > now() and old.lease_until < now() + interval '1 minute', false), current_setting('application_name'));
         return null;
       end $$`,
    );
    await query(
      `create trigger lease_change after update on sync.entries for each row
         when (old.lease_owner is distinct from new.lease_owner) execute function fire.record()`,
    );
    await query(
      `create trigger held_entry_deleted after delete on sync.entries for each row
         when (old.lease_owner is not null) execute function fire.record()`,
    );
  });

/** Returns the recorded changes of leases, oldest first. */
export const leaseChanges = (url: string): Promise<LeaseChange[]> =>
  onDatabase(url, (query) =>
    query<LeaseChange>(
      `select entry_id as "entryId", before, after, was_held as "wasHeld", process from fire.lease_changes order by id`,
    ),
  );

async function onDatabase<T>(
  url: string,
  work: (query: <Row>(text: string) => Promise<Row[]>) => Promise<T>,
): Promise<T> {
  const db = openPostgres({ url, connections: 1 });
  try {
    return await work((text) => db.query(text));
  } finally {
    await db.close();
  }
}
