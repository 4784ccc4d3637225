-- What operators set for an entity. Its name is `entity_` and its ID until they choose one.
alter table login.entities
  add column name text collate "C",
  add column policies text[] not null default '{}',
  add column metadata jsonb not null default '{}',
  add column disabled boolean not null default false,
  add column updated_at timestamptz not null default now();
create unique index entities_by_name on login.entities (namespace_id, name) where name is not null;

-- The groups that the newest login named, sorted, whether or not they have an alias here.
alter table login.entity_aliases add column groups text[] not null default '{}';

-- Groups whose members the directory knows. An alias says which of the directory's groups it is.
create table login.groups (
  id uuid primary key default gen_random_uuid(),
  namespace_id text not null references login.namespaces on delete cascade,
  name text collate "C" not null,
  policies text[] not null default '{}',
  metadata jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (namespace_id, name)
);
create table login.group_aliases (
  id uuid primary key default gen_random_uuid(),
  mount_id uuid not null references login.auth_mounts on delete cascade,
  name text not null, -- the directory's ID of the group, in lower case
  group_id uuid not null unique references login.groups on delete cascade,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (mount_id, name)
);

-- Bounds for the lifetimes of the tokens that a mount issues; 0: those of the system.
alter table login.auth_mounts
  add column default_lease_seconds bigint not null default 0,
  add column max_lease_seconds bigint not null default 0;
