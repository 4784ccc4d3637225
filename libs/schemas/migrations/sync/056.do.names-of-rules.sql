-- A rule may have its own names, granularity and value_key. An association keeps those that it was made with; null: those of its destination.
alter table sync.rules add column naming jsonb not null default '{}';
alter table sync.associations add column naming jsonb;

create or replace view sync.entry_values with (security_barrier) as
  select e.id as entry_id, a.secret_id, v.mount_id, v.path, v.version_id, v.sealed,
         exists (select from secrets.secrets s join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null
                  where s.id = a.secret_id) as secret_exists,
         a.mount, a.secret_name, a.naming
    from sync.entries e
    join sync.associations a on a.id = e.association_id
    left join secrets.newest_readable v on v.secret_id = a.secret_id
   where sync.works_on(e.destination_type);
