-- The history of an entry is deleted only with the entry, by this trigger: no worker may delete history. The type is part of the key, so
-- that a worker cannot keep that of another type from recording outcomes with rows that row-level security hides from it.
create or replace function sync.forget_history() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  delete from sync.entry_history where entry_id = any(array(select id from gone));
  return null;
end $$;
revoke all on function sync.forget_history() from public;
alter table sync.entry_history
  drop constraint entry_history_pkey,
  add constraint entry_history_pkey primary key (entry_id, slot, destination_type);
