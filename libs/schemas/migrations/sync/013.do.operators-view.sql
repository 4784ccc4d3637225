-- What an operator asks about: entries by status, what happened to an entry, and the lanes of a namespace (docs/adr/0014-bounded-status.md).

-- Entries of a destination by status. Those that are pending and enqueued or in progress are left out: the windows bound their number
-- (`entries_outstanding`), and being scheduled and claimed must not cost a further index entry.
create index entries_by_status on sync.entries (destination_id, status, association_id, sub_key)
  where status <> 'PENDING' or (announced_at is null and lease_until is null);

drop index sync.entries_not_removed; -- the same as entries_removal_failed

-- Associations with keys that cannot be synced.
create index associations_with_unnamed_keys on sync.associations (destination_id, id) where unnamed_keys::text <> '[]';

create index destinations_by_lane on sync.destinations (namespace_id, lane_id, type, name);

-- The last outcomes of each entry. Its rows are a ring: an outcome overwrites the one that was recorded 20 outcomes earlier. No foreign
-- key: it would have to be checked for each outcome.
create table sync.entry_history (
  entry_id uuid not null,
  slot smallint not null, -- `number` modulo 20
  number integer not null,
  destination_type text not null,
  action text not null check (action in ('put', 'remove')),
  status text not null, -- that the attempt led to
  fault text, -- null if it succeeded, or failed unexpectedly
  error text, -- null if it succeeded
  attempts integer not null, -- in a row, including this one
  since timestamptz not null default now(), -- the first of identical failures in a row, which are one outcome
  at timestamptz not null default now(),
  primary key (entry_id, slot)
);
alter table sync.entries add column outcomes integer not null default 0; -- the number of its last outcome

alter table sync.entry_history enable row level security;
create policy of_own_type on sync.entry_history using (sync.works_on(destination_type));

-- A history is deleted with its entry, in one statement for all entries that a statement deletes.
create function sync.forget_history() returns trigger language plpgsql as $$
begin
  delete from sync.entry_history where entry_id = any(array(select id from gone));
  return null;
end $$;
create trigger forget_history after delete on sync.entries referencing old table as gone
  for each statement execute function sync.forget_history();
