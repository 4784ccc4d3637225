-- More work on a whole destination that is done in pages: pushing every external secret again after a change of the settings, and
-- planning every association again. A position is what the last page ended with.
alter table sync.destinations
  add column push_initiated_at timestamptz, -- entries that were pushed before this time are pushed again
  add column push_position text not null default '', -- collision key of an entry
  add column replan_initiated_at timestamptz,
  add column replan_position uuid not null default '00000000-0000-0000-0000-000000000000', -- association
  add column replan_leased_until timestamptz not null default '-infinity', -- one process at a time plans a page
  add column replan_refused bigint not null default 0, -- associations that the current or last replan left as they were
  add column replan_error text, -- why it left the last one of these
  add column background_error text; -- why the last page of any work failed; null once one has succeeded

-- One look into one index tells whether there is any work.
create index destinations_with_work on sync.destinations (id)
  where deleted_at is not null or purge_initiated_at is not null or retry_initiated_at is not null
     or push_initiated_at is not null or replan_initiated_at is not null;
drop index sync.destinations_in_purge;
drop index sync.destinations_to_retry;

-- Why a purge waits for the operator.
create index entries_not_removed on sync.entries (destination_id) where desired = 'absent' and status = 'CLIENT_SIDE_ERROR';

-- Entries that wait for another one, and those of them that are not announced until it is achieved.
create index entries_waiting_for on sync.entries (waits_for) where waits_for is not null;
create index entries_parked on sync.entries (id)
  where waits_for is not null and due_at is null and announced_at is null and applied_generation < generation;
