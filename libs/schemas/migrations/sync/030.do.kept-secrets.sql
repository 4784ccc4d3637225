-- Whether the purge of a destination leaves its external secrets in the store.
alter table sync.destinations add column purge_keeps boolean not null default false;

-- An entry whose external secret is to be kept waits for itself: earlier versions, which would remove the external secret, never claim it. During
-- such a purge, that applies to each removal, whichever version requests it.
create function sync.keep_in_purge() returns trigger language plpgsql as $$
begin
  if exists (select from sync.destinations where id = new.destination_id and purge_initiated_at is not null and purge_keeps) then
    new.waits_for := new.id;
  end if;
  return new;
end $$;
create trigger keep_in_purge before update of desired on sync.entries
  for each row when (new.desired = 'absent' and new.waits_for is null) execute function sync.keep_in_purge();
