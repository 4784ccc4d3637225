-- What sync-control may read of the versions of secrets under an enabled mount: the number of the last one that was written, and of the
-- newest one that can be read; null if there is none.
create view sync.secret_versions with (security_barrier) as
  select s.id as secret_id, s.revision, s.current_version,
         (select v.version from secrets.newest_readable v where v.secret_id = s.id) as readable_version
    from secrets.secrets s
    join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null;
