-- How often entries of a type have been admitted. A scheduler reads the number together with the lanes, decides, and admits only if the
-- number is still the same: two schedulers never admit from the same state, and need no lock between the two statements.
create table sync.scheduler_turns (
  destination_type text primary key,
  turn bigint not null
);

-- What sync-control may read of secrets: which exist under an enabled mount, and how often each has changed.
create view sync.secret_revisions with (security_barrier) as
  select s.id as secret_id, s.revision
    from secrets.secrets s
    join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null;
