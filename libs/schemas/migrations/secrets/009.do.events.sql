-- Until when changes of secrets are recorded as events: while somebody listens, each process that has listeners moves it on. The page has
-- room for new versions of the row, which then need no entry in the index.
create table secrets.event_listening (
  id boolean primary key default true check (id),
  until timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into secrets.event_listening default values;

-- Changes of secrets, without values, for those who listen: written by the statement of the change, and deleted after minutes. The order is
-- that of the transaction, then of the number; readers stay behind the oldest transaction (docs/adr/0025-live-events.md).
create table secrets.events (
  id bigint generated always as identity primary key,
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  kind text not null, -- such as `data-write`
  mount_id uuid not null, -- no foreign key: the row outlives the mount
  path text collate "C" not null, -- of the secret, below its mount
  current_version int, -- null for events of metadata
  oldest_version int,
  versions int[] -- those that were deleted, undeleted or destroyed
);
create index events_in_order on secrets.events (xid, id);
