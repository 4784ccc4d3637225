-- A path may begin with the path of a namespace, so the first segment of a mount's path is never the name of a namespace next to it. As the
-- parent of every namespace exists, this excludes all other overlaps too. What two services request at one moment is decided by the lock.
-- Names that both already have are kept.
create function secrets.refuse_name_of_namespace() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  parent text := (select path from login.namespaces where id = new.namespace_id);
  name text := split_part(new.path, '/', 1);
begin
  perform pg_advisory_xact_lock(hashtextextended('names in namespace ' || new.namespace_id, 0));
  if exists (select from login.namespaces where path = case parent when '' then name else parent || '/' || name end) then
    raise unique_violation using constraint = 'names_of_mounts_and_namespaces', message = 'a namespace has this name';
  end if;
  return new;
end $$;
create trigger refuse_name_of_namespace before insert or update of namespace_id, path on secrets.mounts
  for each row execute function secrets.refuse_name_of_namespace();

create function secrets.refuse_name_of_mount() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  name text := regexp_replace(new.path, '^.*/', '');
  parent text := (select id from login.namespaces where path = left(new.path, -length(name) - 1));
begin
  perform pg_advisory_xact_lock(hashtextextended('names in namespace ' || parent, 0));
  if exists (
    select from secrets.mounts
    where namespace_id = parent and disabled_at is null and (path = name or path >= name || '/' and path < name || '0')
  ) then
    raise unique_violation using constraint = 'names_of_mounts_and_namespaces', message = 'a mount has this name';
  end if;
  return new;
end $$;
create trigger refuse_name_of_mount before insert or update of path on login.namespaces
  for each row execute function secrets.refuse_name_of_mount();

-- The newest move of a mount.
alter table secrets.mounts add column moved_from text, add column move_id uuid unique;
