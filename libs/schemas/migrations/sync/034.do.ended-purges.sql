-- What a purge that has ended was to remove is kept or deleted as the purge would have done it: everything whose removal was requested before.
alter table sync.destinations add column purge_ended_at timestamptz;
alter table sync.entries add column removal_requested_at timestamptz;

create or replace function sync.keep_in_purge() returns trigger language plpgsql as $$
begin
  new.removal_requested_at := clock_timestamp();
  if new.waits_for is null and exists (
    select from sync.destinations where id = new.destination_id and purge_initiated_at is not null and purge_keeps
  ) then
    new.waits_for := new.id;
  end if;
  return new;
end $$;
create or replace trigger keep_in_purge before update of desired on sync.entries
  for each row when (new.desired = 'absent') execute function sync.keep_in_purge();
