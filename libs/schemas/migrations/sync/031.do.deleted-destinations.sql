-- The IDs of deleted destinations. External secrets that still have their marks may be taken over. Those that were deleted before are not in it.
create table sync.deleted_destinations (
  id uuid primary key,
  deleted_at timestamptz not null default now()
);

-- With the row, whichever version deletes it.
create function sync.remember_deleted_destination() returns trigger language plpgsql as $$
begin
  insert into sync.deleted_destinations (id) values (old.id) on conflict do nothing;
  return null;
end $$;
create trigger remember_deleted_destination after delete on sync.destinations
  for each row execute function sync.remember_deleted_destination();
