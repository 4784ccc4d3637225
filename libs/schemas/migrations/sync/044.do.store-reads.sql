-- Reads of a store for a request that waits: a worker lists external secrets, without their values. The request deletes its row;
-- the sweep of checks deletes those of requests whose process has died.
create table sync.store_reads (
  id uuid primary key default gen_random_uuid(),
  destination_id uuid not null references sync.destinations on delete cascade,
  destination_type text not null,
  question jsonb not null,
  answer jsonb,
  requested_at timestamptz not null default now(),
  ends_at timestamptz not null, -- the requester waits no longer, and no worker begins it
  started_at timestamptz
);
create index store_reads_of_destination on sync.store_reads (destination_id);
create index store_reads_by_age on sync.store_reads (requested_at);

alter table sync.store_reads enable row level security;
create policy of_own_type on sync.store_reads using (sync.works_on(destination_type));
