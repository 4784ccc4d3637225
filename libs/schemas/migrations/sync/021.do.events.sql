-- What has happened, for those who follow it, kept for a while. Triggers write it, so that it is written in the transaction of the change, whatever
-- statement makes that, of this version or the one before; and as the owner of this table, which no worker can write to. An entry's event has only
-- its own columns: the names are looked up when it is read, so that it costs the worker one row.
--
-- The order is that of (xid, id). A reader only reads what is below the oldest transaction that still runs: nothing can be added there any more, which
-- is not so for numbers alone, since they become visible in the order of the commits.
create table sync.events (
  xid xid8 not null default pg_current_xact_id(),
  id bigint generated always as identity,
  at timestamptz not null default now(),
  kind text not null,
  -- Null where they are looked up by the ID of the destination or the association. What is about a lane or all of them has neither.
  namespace_id text,
  destination_type text,
  destination_name text,
  mount text,
  secret_name text,
  destination_id uuid,
  association_id uuid,
  lane_id uuid,
  sub_key text,
  external_name text,
  status text,
  outcome text check (outcome in ('succeeded', 'failed')),
  fault text,
  error text,
  attempts int,
  work text,
  paused_until timestamptz,
  primary key (xid, id)
);

-- Up to which event they are counted, and up to which they are deleted.
create table sync.event_progress (
  only_one boolean primary key default true check (only_one),
  counted_xid xid8 not null default '0',
  counted_id bigint not null default 0,
  swept_xid xid8 not null default '0',
  swept_id bigint not null default 0
);
insert into sync.event_progress default values;

-- How many attempts ended in a minute.
create table sync.outcome_minutes (
  namespace_id text not null,
  destination_type text not null,
  minute timestamptz not null,
  succeeded bigint not null,
  failed bigint not null,
  primary key (namespace_id, destination_type, minute)
);
create index outcome_minutes_by_age on sync.outcome_minutes (minute);

create function sync.record_new_entries() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, status, attempts)
  select 'entry', destination_id, association_id, sub_key, external_name, status, 0 from added;
  return null;
end $$;
create trigger record_new_entries after insert on sync.entries referencing new table as added
  for each statement execute function sync.record_new_entries();

create function sync.record_entry() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, status, fault, error, attempts, outcome)
  values ('entry', new.destination_id, new.association_id, new.sub_key, new.external_name, new.status, new.fault, new.last_error, new.attempts,
          case when new.synced_at is distinct from old.synced_at then 'succeeded'
               when old.lease_owner is not null and new.lease_owner is null then 'failed' end);
  return null;
end $$;
-- An attempt that is ended by the death of its worker has no outcome, and leaves the columns of the outcome as they are.
create trigger record_entry after update of status on sync.entries
  for each row when (old.status <> new.status or old.synced_at is distinct from new.synced_at
                     or (old.lease_owner is not null and new.lease_owner is null))
  execute function sync.record_entry();

-- Only what a worker has removed: what is deleted together with its destination was not removed anywhere.
create function sync.record_removed_entries() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, status, attempts, outcome)
  select 'entry', destination_id, association_id, sub_key, external_name, 'UNSYNCED', 0, 'succeeded' from gone where lease_owner is not null;
  return null;
end $$;
create trigger record_removed_entries after delete on sync.entries referencing old table as gone
  for each statement execute function sync.record_removed_entries();

create function sync.record_associations() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, namespace_id, destination_id, destination_type, destination_name, association_id, mount, secret_name)
  select case tg_op when 'INSERT' then 'association_set' else 'association_removed' end,
         a.namespace_id, a.destination_id, d.type, d.name, a.id, a.mount, a.secret_name
    from changed a join sync.destinations d on d.id = a.destination_id where d.deleted_at is null;
  return null;
end $$;
create trigger record_new_associations after insert on sync.associations referencing new table as changed
  for each statement execute function sync.record_associations();
create trigger record_removed_associations after delete on sync.associations referencing old table as changed
  for each statement execute function sync.record_associations();

create function sync.record_association() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, namespace_id, destination_id, association_id, mount, secret_name)
  values (case when new.removing and not old.removing then 'association_removing'
               when old.removing and not new.removing then 'association_set' else 'association_updated' end,
          new.namespace_id, new.destination_id, new.id, new.mount, new.secret_name);
  return null;
end $$;
create trigger record_association after update of removing, mount, unnamed_keys on sync.associations
  for each row when (old.removing <> new.removing or old.mount <> new.mount or old.unnamed_keys::text <> new.unnamed_keys::text)
  execute function sync.record_association();

-- The namespace of a destination that is being deleted is that before.
create function sync.record_destination() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
declare
  was sync.destinations := case tg_op when 'INSERT' then new else old end;
  row sync.destinations := case tg_op when 'DELETE' then old else new end;
begin
  insert into sync.events (kind, namespace_id, destination_id, destination_type, destination_name, work)
  select kind, was.namespace_id, row.id, row.type, row.name, work
    from (values
      ('destination_created', null, tg_op = 'INSERT'),
      ('destination_deleted', null, tg_op = 'DELETE' or (was.deleted_at is null and row.deleted_at is not null)),
      ('destination_updated', null, was.revision <> row.revision),
      (case when row.purge_initiated_at is null then 'work_finished' else 'work_started' end, 'purge',
       (was.purge_initiated_at is null) <> (row.purge_initiated_at is null)),
      (case when row.retry_initiated_at is null then 'work_finished' else 'work_started' end, 'retry',
       (was.retry_initiated_at is null) <> (row.retry_initiated_at is null)),
      (case when row.push_initiated_at is null then 'work_finished' else 'work_started' end, 'push',
       (was.push_initiated_at is null) <> (row.push_initiated_at is null)),
      (case when row.replan_initiated_at is null then 'work_finished' else 'work_started' end, 'replan',
       (was.replan_initiated_at is null) <> (row.replan_initiated_at is null))
    ) as happened (kind, work, is_so) where is_so;
  return null;
end $$;
create trigger record_new_destination after insert on sync.destinations
  for each row execute function sync.record_destination();
create trigger record_destination after update on sync.destinations
  for each row when (old.deleted_at is null and (new.deleted_at is not null or old.revision <> new.revision
    or (old.purge_initiated_at is null) <> (new.purge_initiated_at is null) or (old.retry_initiated_at is null) <> (new.retry_initiated_at is null)
    or (old.push_initiated_at is null) <> (new.push_initiated_at is null) or (old.replan_initiated_at is null) <> (new.replan_initiated_at is null)))
  execute function sync.record_destination();
create trigger record_removed_destination after delete on sync.destinations
  for each row when (old.deleted_at is null) execute function sync.record_destination();

create function sync.record_held_removals() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id)
  values (case when new.held_at is null then 'removals_released' else 'removals_held' end, new.destination_id);
  return null;
end $$;
create trigger record_held_removals after update of held_at on sync.removal_brakes
  for each row when ((old.held_at is null) <> (new.held_at is null)) execute function sync.record_held_removals();

-- A pause, also a longer one; or the first success after pauses.
create function sync.record_pause() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, fault, paused_until)
  values (case when new.failures = 0 then 'destination_reopened' else 'destination_paused' end, new.destination_id,
          case when new.failures > 0 then new.reason end, case when new.failures > 0 then new.paused_until end);
  return null;
end $$;
create trigger record_first_pause after insert on sync.destination_health
  for each row when (new.failures > 0 and new.paused_until > now()) execute function sync.record_pause();
create trigger record_pause after update of paused_until, failures on sync.destination_health
  for each row when ((new.failures > 0 and new.paused_until > now() and old.paused_until is distinct from new.paused_until)
                     or (old.failures > 0 and new.failures = 0))
  execute function sync.record_pause();

create function sync.record_pause_of_lane() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, lane_id, destination_type, fault, paused_until)
  values (case when new.failures = 0 then 'lane_reopened' else 'lane_paused' end, new.id, new.destination_type,
          case when new.failures > 0 then new.reason end, case when new.failures > 0 then new.paused_until end);
  return null;
end $$;
create trigger record_pause after update of paused_until, failures on sync.lanes
  for each row when ((new.failures > 0 and new.paused_until > now() and old.paused_until is distinct from new.paused_until)
                     or (old.failures > 0 and new.failures = 0))
  execute function sync.record_pause_of_lane();

create function sync.record_switch() returns trigger language plpgsql
  security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind) values (case when new.disabled then 'sync_disabled' else 'sync_enabled' end);
  return null;
end $$;
create trigger record_switch after update of disabled on sync.config
  for each row when (old.disabled <> new.disabled) execute function sync.record_switch();

revoke all on function sync.record_new_entries(), sync.record_entry(), sync.record_removed_entries(), sync.record_associations(),
  sync.record_association(), sync.record_destination(), sync.record_held_removals(), sync.record_pause(), sync.record_pause_of_lane(),
  sync.record_switch() from public;
