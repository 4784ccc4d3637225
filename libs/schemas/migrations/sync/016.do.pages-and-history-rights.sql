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

-- A changed application is announced to the destinations that use it in pages: their workers connect again. The position is the last
-- destination of a page.
alter table sync.codehost_apps
  add column reconnect_initiated_at timestamptz,
  add column reconnect_position uuid not null default '00000000-0000-0000-0000-000000000000';
create index codehost_apps_to_reconnect on sync.codehost_apps (id) where reconnect_initiated_at is not null;
drop index sync.destinations_of_codehost_app;
create index destinations_of_codehost_app on sync.destinations (codehost_app_id, id) where codehost_app_id is not null;

-- The last association of the last page of a purge that failed: the next page begins after it.
alter table sync.destinations add column purge_position uuid not null default '00000000-0000-0000-0000-000000000000';
