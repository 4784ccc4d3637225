-- Applications registered at a code host, as which destinations of this namespace sign in there.
create table sync.codehost_apps (
  id uuid primary key default gen_random_uuid(),
  namespace_id text not null references login.namespaces,
  name text not null,
  app_id bigint not null, -- the code host's
  fingerprint text not null, -- of the public key
  sealed_private_key bytea not null, -- for `sync.codehost_apps:<id>`
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (namespace_id, name)
);

-- Which application a destination uses: one that is in use cannot be deleted.
alter table sync.destinations add column codehost_app_id uuid references sync.codehost_apps;
create index destinations_of_codehost_app on sync.destinations (codehost_app_id) where codehost_app_id is not null;

-- Only the worker of the code host reads applications. Its role is the only one of a worker that is granted the table.
alter table sync.codehost_apps enable row level security;
create policy of_own_type on sync.codehost_apps using (sync.works_on('codehost'));

-- Checks of a destination's credentials: a worker creates, changes and removes a probe, an external secret with a random value.
create table sync.destination_checks (
  id uuid primary key default gen_random_uuid(),
  destination_id uuid not null references sync.destinations on delete cascade,
  destination_type text not null,
  requested_at timestamptz not null default now(),
  ends_at timestamptz not null, -- the requester waits no longer, and no worker begins or continues it
  started_at timestamptz, -- from then on, the probe may exist
  ended_at timestamptz,
  steps jsonb not null default '[]', -- the outcome
  -- the probe
  external_name text not null,
  remote jsonb, -- what the provider called it
  put_started_at timestamptz, -- as of an entry
  removed_at timestamptz, -- it is known to be gone
  next_removal_at timestamptz -- when the sweep requests the removal of a probe that was left behind
);
-- One check of a destination at a time.
create unique index destination_checks_running on sync.destination_checks (destination_id) where ended_at is null;
create index destination_checks_of_destination on sync.destination_checks (destination_id);
create index destination_checks_with_probe on sync.destination_checks (coalesce(next_removal_at, ends_at))
  where started_at is not null and removed_at is null;
create index destination_checks_with_probe_of_destination on sync.destination_checks (destination_id)
  where started_at is not null and removed_at is null;
create index destination_checks_by_age on sync.destination_checks (requested_at);

alter table sync.destination_checks enable row level security;
create policy of_own_type on sync.destination_checks using (sync.works_on(destination_type));

-- A retry that was asked for resends everything that failed, not only what waits for the operator.
alter table sync.destinations add column retry_all boolean not null default false;
create index entries_postponed on sync.entries (destination_id, updated_at)
  where status in ('EXTERNAL_SERVICE_ERROR', 'INTERNAL_SERVICE_ERROR');
