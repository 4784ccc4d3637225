create schema if not exists secrets;

-- A key-value store of versioned secrets at a path of one namespace. Disabling frees the path at once; the row stays
-- until the last of its secrets is purged, so that an interrupted purge is found again.
create table secrets.mounts (
  id uuid primary key default gen_random_uuid(),
  namespace_id text not null,
  path text collate "C" not null, -- without slashes at the ends, such as `team/kv`
  accessor text not null unique, -- `kv_` and 8 hex digits
  description text not null default '',
  max_versions int not null default 0, -- 0: 10
  cas_required boolean not null default false,
  delete_after_seconds bigint not null default 0, -- 0: never
  created_at timestamptz not null default now(),
  disabled_at timestamptz
);
create unique index mounts_by_path on secrets.mounts (namespace_id, path) where disabled_at is null;
create index mounts_to_purge on secrets.mounts (disabled_at) where disabled_at is not null;

-- One name under a mount: its metadata. Paths are at most 2,048 bytes, so that each fits in the index; "C" makes that
-- index serve prefixes, and a listing hop from one folder to the next.
create table secrets.secrets (
  id uuid primary key,
  mount_id uuid not null references secrets.mounts,
  path text collate "C" not null,
  current_version int not null default 0, -- 0: only metadata so far
  oldest_version int not null default 0, -- older versions are pruned, also where a row is still there; 0: none was
  revision bigint not null default 1, -- grows with every change; what a read-modify-write compares
  max_versions int not null default 0, -- 0: the mount's
  cas_required boolean not null default false,
  delete_after_seconds bigint not null default 0, -- 0: the mount's
  custom_metadata jsonb,
  watched boolean not null default false, -- somebody follows it: its changes go to the outbox
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  unique (mount_id, path)
);
create index secrets_watched on secrets.secrets (mount_id) where watched;

-- The value of a version is sealed under an identity made of the mount's id, the secret's path and the version's own
-- id: all are known before the version's number is, so that a write is one statement, and no value opens when it is
-- moved to another secret or version.
create table secrets.versions (
  secret_id uuid not null references secrets.secrets on delete cascade,
  version int not null,
  id uuid not null,
  sealed bytea, -- null once destroyed
  created_at timestamptz not null,
  deletion_time timestamptz, -- deleted from then on; may lie in the future
  expires_at timestamptz, -- a deletion_time of which nobody was told yet
  destroyed boolean not null default false,
  primary key (secret_id, version),
  check (destroyed = (sealed is null))
);
create index versions_by_expiry on secrets.versions (expires_at) where expires_at is not null;

-- Changes of watched secrets on their way to the broker. No foreign key: the row outlives the secret.
create table secrets.outbox (
  id bigint generated always as identity primary key,
  secret_id uuid not null,
  due_at timestamptz not null default now()
);
create index outbox_by_due on secrets.outbox (due_at, id);

-- What workers push: the newest version that may be read, of secrets under enabled mounts. `secret_id = …` reads a few
-- index entries, however many versions there are.
create view secrets.newest_readable as
select s.id as secret_id, v.version, v.id as version_id, s.mount_id, s.path, v.sealed
from secrets.secrets s
join secrets.mounts m on m.id = s.mount_id and m.disabled_at is null
cross join lateral (
  select version, id, sealed
  from secrets.versions
  where secret_id = s.id and version >= s.oldest_version and not destroyed
    and (deletion_time is null or deletion_time > statement_timestamp()) -- not of the transaction, which may have waited
  order by version desc
  limit 1
) v;
