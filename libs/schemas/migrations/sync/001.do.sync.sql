create schema if not exists sync;

create table sync.config (
  id boolean primary key default true check (id),
  disabled boolean not null default false,
  queue_capacity bigint not null default 1000000 check (queue_capacity >= 0)
);
insert into sync.config default values;

create table sync.destinations (
  id uuid primary key default gen_random_uuid(),
  namespace_id text not null,
  namespace_path text not null,
  type text not null,
  name text not null,
  settings jsonb not null, -- every field that is not secret
  sealed_credentials bytea, -- the secret fields, sealed for `sync.destinations:<id>`
  revision bigint not null default 1, -- grows with every update: a worker's client of an older one is closed
  purge_initiated_at timestamptz,
  purge_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (namespace_id, type, name)
);
create index destinations_in_purge on sync.destinations (purge_initiated_at) where purge_initiated_at is not null;

-- How a destination fares, kept by the workers: one that throttles or is down pauses alone.
create table sync.destination_health (
  destination_id uuid primary key references sync.destinations on delete cascade,
  failures integer not null default 0, -- in a row
  paused_until timestamptz
);

create table sync.associations (
  id uuid primary key default gen_random_uuid(),
  destination_id uuid not null references sync.destinations on delete cascade,
  namespace_id text not null,
  mount_id uuid not null,
  mount text not null, -- path of the mount, without slashes at the ends
  accessor text not null,
  secret_id uuid not null,
  secret_name text not null,
  planned_revision bigint not null, -- of the secret, when its entries were last planned: an older plan never wins
  removing boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (destination_id, accessor, secret_name)
);
create index associations_of_destination on sync.associations (destination_id, id);
create index associations_by_secret on sync.associations (secret_id);
create index associations_by_name on sync.associations (namespace_id, mount, secret_name, id);

-- One external secret of an association: what is wanted, what was achieved, what is under way. The row is the job.
create table sync.entries (
  id uuid primary key default gen_random_uuid(),
  association_id uuid not null references sync.associations on delete cascade,
  destination_id uuid not null references sync.destinations on delete cascade,
  destination_type text not null,
  sub_key text not null default '', -- the key at secret-key granularity; empty for the whole secret
  -- wanted
  desired text not null default 'present' check (desired in ('present', 'absent')), -- absent: the row goes with the external secret
  external_name text not null,
  collision_key text not null, -- the name as the destination tells names apart
  generation bigint not null default 1, -- grows with every intent
  overwrite boolean not null default false, -- a foreign external secret of this name may be taken over
  verify boolean not null default false, -- look outside although nothing changed here
  waits_for uuid, -- entry that must be achieved first: a new name before the old one goes
  -- achieved
  applied_generation bigint not null default 0,
  pushed_hash text, -- keyed hash of the value last pushed
  settings_hash text, -- of the destination's settings that it was pushed with
  remote jsonb, -- what the provider called it
  synced_at timestamptz,
  -- under way
  status text not null default 'PENDING',
  attempts integer not null default 0,
  next_attempt_at timestamptz, -- a retry is not made earlier
  due_at timestamptz default now(), -- when the relay announces it to the workers; null: announced, or nothing to do
  announced_at timestamptz, -- a message about it is out
  lease_owner text,
  lease_until timestamptz,
  fence bigint not null default 0, -- grows with every claim: whoever holds an older one has lost
  fault text,
  last_error text,
  updated_at timestamptz not null default now(),
  unique (destination_id, collision_key)
);
create index entries_of_association on sync.entries (association_id, sub_key);
create index entries_due on sync.entries (due_at) where due_at is not null;
create index entries_announced on sync.entries (destination_type, announced_at) where announced_at is not null;

-- What a worker may read of secrets: the newest readable value of each entry's secret, sealed, and nothing else.
create view sync.entry_values with (security_barrier) as
  select e.id as entry_id, a.secret_id, v.mount_id, v.path, v.version_id, v.sealed
    from sync.entries e
    join sync.associations a on a.id = e.association_id
    join secrets.newest_readable v on v.secret_id = a.secret_id;
