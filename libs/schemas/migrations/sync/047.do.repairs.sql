-- Repairs of external secrets that somebody else has changed. A repair repeats the put of an entry under its own generation.
-- Repairs are held if a look at everything in the destination finds too many. A version that does not know these columns leaves
-- them.
alter table sync.entries
  add column repair_of text, -- the drift that the put is to repair, changed or missing; null for every other put
  add column repaired_at timestamptz[], -- the last repairs, since the last set, retry or new version
  add column found_after bigint not null default 0; -- the decisions in its destination before its drift was found
alter table sync.entry_history add column repair_of text;

create index entries_drifted on sync.entries (destination_id, drift, found_after)
  where status = 'CLIENT_SIDE_ERROR' and fault is null and drift <> 'none';

create table sync.repairs (
  destination_id uuid primary key references sync.destinations (id) on delete cascade,
  decisions bigint not null default 0, -- how many times repairs were approved: of all drift that was found before
  is_wanted boolean not null default false, -- whether drift was found since
  is_in_pass boolean not null default false, -- whether the decision waits for the requested round of looks
  is_repairing boolean not null default false, -- whether something approved may be left
  held_at timestamptz -- since when repairs have been waiting for a confirmation
) with (fillfactor = 50);
create index repairs_open on sync.repairs (destination_id) where is_wanted or is_repairing or held_at is not null;
create index repairs_held on sync.repairs (destination_id) where held_at is not null;

-- A destination has its row from the beginning: the first look that inserted it would have to lock the destination. What was
-- found under another policy counts once the policy has changed.
create function sync.keep_repairs() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.repairs (destination_id) values (new.id)
  on conflict (destination_id) do update set is_wanted = true;
  return null;
end $$;
create trigger start_repairs after insert on sync.destinations for each row execute function sync.keep_repairs();
-- Its name makes it run before `change_inspection`: a decision locks these two rows in the same order.
create trigger ask_for_repairs after update of settings on sync.destinations
  for each row when (old.settings ->> 'drift_policy' is distinct from new.settings ->> 'drift_policy') execute function sync.keep_repairs();
insert into sync.repairs (destination_id) select id from sync.destinations on conflict do nothing;

-- The lock on the row orders each finding before or after each decision, so that nothing is approved without having been counted.
create function sync.want_repair() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  decided bigint;
begin
  update sync.repairs set is_wanted = true where destination_id = new.destination_id returning decisions into decided;
  new.found_after = coalesce(decided, 0);
  return new;
end $$;
create trigger want_repair before update of drift on sync.entries
  for each row when (new.status = 'CLIENT_SIDE_ERROR' and new.drift in ('changed', 'missing', 'foreign')
                     and (old.drift is distinct from new.drift or old.status <> new.status))
  execute function sync.want_repair();

create function sync.record_repair() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, drift)
  values ('drift_repaired', new.destination_id, new.association_id, new.sub_key, new.external_name, old.repair_of);
  return null;
end $$;
create trigger record_repair after update of drift on sync.entries
  for each row when (old.repair_of is not null and old.drift <> 'none' and new.drift = 'none' and old.synced_at is distinct from new.synced_at)
  execute function sync.record_repair();

create function sync.record_held_repairs() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id)
  values (case when new.held_at is null then 'repairs_released' else 'repairs_held' end, new.destination_id);
  return null;
end $$;
create trigger record_held_repairs after update of held_at on sync.repairs
  for each row when ((old.held_at is null) <> (new.held_at is null)) execute function sync.record_held_repairs();

revoke all on function sync.keep_repairs(), sync.want_repair(), sync.record_repair(), sync.record_held_repairs() from public;
