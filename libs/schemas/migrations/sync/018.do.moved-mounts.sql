create index associations_of_mount on sync.associations (mount_id);

-- A mount that is moved keeps its associations: from the same commit on, they have its new path. External names stay as they are until the
-- association is set or replanned. The setting keeps Postgres from reading the whole table, if most associations are of one mount.
create function sync.follow_moved_mount() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  update sync.associations set mount = new.path where mount_id = new.id;
  return null;
end $$;
create trigger moved_mount after update of path on secrets.mounts
  for each row when (old.path <> new.path) execute function sync.follow_moved_mount();
