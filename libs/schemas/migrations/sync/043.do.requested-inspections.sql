-- A request to look at everything in a destination now, until its round has ended.
alter table sync.inspections add column requested_at timestamptz;

create function sync.record_inspection() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, namespace_id, destination_id, destination_type, destination_name, work)
  select case when new.requested_at is null then 'work_finished' else 'work_started' end, d.namespace_id, d.id, d.type, d.name, 'inspect'
    from sync.destinations d where d.id = new.destination_id and d.deleted_at is null;
  return null;
end $$;
create trigger record_inspection after update of requested_at on sync.inspections
  for each row when ((old.requested_at is null) <> (new.requested_at is null)) execute function sync.record_inspection();
