-- A worker sees its own destination type alone. Its role is named after the type: `cloudA-sm` is worked on by
-- `sync_worker_clouda_sm`, so a further type needs nothing here. What other roles may do, their grants say.
create function sync.works_on(destination_type text) returns boolean
  language sql stable parallel safe
  return current_user not like 'sync\_worker\_%'
    or current_user = 'sync_worker_' || lower(replace(destination_type, '-', '_'));

alter table sync.destinations enable row level security;
create policy of_own_type on sync.destinations using (sync.works_on(type));

alter table sync.entries enable row level security;
create policy of_own_type on sync.entries using (sync.works_on(destination_type));

-- The destinations that these two look at are those that the role sees.
alter table sync.associations enable row level security;
create policy of_own_type on sync.associations
  using (current_user not like 'sync\_worker\_%' or exists (select from sync.destinations d where d.id = destination_id));

alter table sync.destination_health enable row level security;
create policy of_own_type on sync.destination_health
  using (current_user not like 'sync\_worker\_%' or exists (select from sync.destinations d where d.id = destination_id));

-- A worker takes away only what was wanted gone.
create policy wanted_gone on sync.entries as restrictive for delete
  using (current_user not like 'sync\_worker\_%' or desired = 'absent');
create policy wanted_gone on sync.associations as restrictive for delete
  using (current_user not like 'sync\_worker\_%' or removing);

-- A view reads with its owner's rights, so it restricts by itself.
create or replace view sync.entry_values with (security_barrier) as
  select e.id as entry_id, a.secret_id, v.mount_id, v.path, v.version_id, v.sealed
    from sync.entries e
    join sync.associations a on a.id = e.association_id
    join secrets.newest_readable v on v.secret_id = a.secret_id
   where sync.works_on(e.destination_type);
