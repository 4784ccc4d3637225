-- Syncing that is held, and its confirmation, are events. A second reason to hold is not.
create function sync.record_hold() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind)
  values (case when new.other_name is null and new.held_because is null then 'sync_released' else 'sync_held' end);
  return null;
end $$;
create trigger record_hold after update of other_name, held_because on sync.installation
  for each row when ((old.other_name is null and old.held_because is null) <> (new.other_name is null and new.held_because is null))
  execute function sync.record_hold();
revoke all on function sync.record_hold() from public;
