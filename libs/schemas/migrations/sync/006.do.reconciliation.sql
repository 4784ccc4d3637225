-- The progress of the reconciliation: one process at a time holds the lease and compares associations page by page.
create table sync.reconciliation (
  id boolean primary key default true check (id),
  running boolean not null default false, -- a round has started and not ended
  position uuid not null default '00000000-0000-0000-0000-000000000000', -- the last association that was compared
  started_at timestamptz not null default '-infinity', -- of the current round, or the last one
  lease_owner uuid,
  leased_until timestamptz not null default '-infinity'
);
insert into sync.reconciliation default values;

-- Entries whose secret or key is gone, and which are kept until their removal is approved.
alter table sync.associations
  add column source_gone_at timestamptz,
  add column source_removals integer not null default 0; -- number of these entries
create index associations_without_source on sync.associations (destination_id, source_gone_at) where source_gone_at is not null;

-- What the sources of a destination's entries have removed recently, and whether further removals wait for the operator.
create table sync.removal_brakes (
  destination_id uuid primary key references sync.destinations on delete cascade,
  window_started_at timestamptz not null default now(),
  removed bigint not null default 0, -- entries, in the current window
  entries bigint, -- of the destination, when they were counted in the current window
  held_at timestamptz,
  approved_at timestamptz -- what was gone by then is removed
);
create index removal_brakes_held on sync.removal_brakes (held_at) where held_at is not null;
create index removal_brakes_approved on sync.removal_brakes (approved_at) where approved_at is not null;
