-- When the last round of looks began that has ended: everything was looked at since then.
alter table sync.inspections add column inspected_at timestamptz;

alter table sync.events add column drift text;
create function sync.record_drift() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, drift)
  values ('drift_found', new.destination_id, new.association_id, new.sub_key, new.external_name, new.drift);
  return null;
end $$;
create trigger record_drift after update of drift on sync.entries
  for each row when (new.drift <> 'none' and old.drift is distinct from new.drift) execute function sync.record_drift();
revoke all on function sync.record_drift() from public;
