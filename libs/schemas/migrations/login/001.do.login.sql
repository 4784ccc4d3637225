create schema if not exists login;

-- Every object lives in a namespace. `root` has the empty path; the others are named without slashes at the ends.
create table login.namespaces (
  id text primary key,
  path text not null unique,
  custom_metadata jsonb not null default '{}',
  created_at timestamptz not null default now()
);
insert into login.namespaces (id, path) values ('root', ''), ('admin', 'admin');

-- Grows in the same transaction as every revocation and every change of a policy or namespace. Whoever keeps tokens or
-- policies in memory asks for this one number before each use, so that a revocation holds at once on every gateway.
create table login.access_epoch (
  id boolean primary key default true check (id),
  value bigint not null default 0
);
insert into login.access_epoch default values;

create table login.policies (
  namespace_id text not null references login.namespaces on delete cascade,
  name text not null,
  source text not null, -- as it was written, HCL or JSON
  rules jsonb not null, -- as it is evaluated
  updated_at timestamptz not null default now(),
  primary key (namespace_id, name)
);

create table login.auth_mounts (
  id uuid primary key default gen_random_uuid(),
  namespace_id text not null references login.namespaces on delete cascade,
  path text not null, -- without slashes at the ends, such as `cloudB`
  type text not null,
  accessor text not null unique,
  description text not null default '',
  created_at timestamptz not null default now(),
  unique (namespace_id, path)
);

create table login.cloudb_configs (
  mount_id uuid primary key references login.auth_mounts on delete cascade,
  settings jsonb not null, -- everything but the secret
  sealed_client_secret bytea,
  updated_at timestamptz not null default now()
);

create table login.cloudb_roles (
  mount_id uuid not null references login.auth_mounts on delete cascade,
  name text not null, -- lower case
  settings jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (mount_id, name)
);

create table login.entities (
  id uuid primary key default gen_random_uuid(),
  namespace_id text not null references login.namespaces on delete cascade,
  created_at timestamptz not null default now()
);

create table login.entity_aliases (
  mount_id uuid not null references login.auth_mounts on delete cascade,
  name text not null,
  entity_id uuid not null references login.entities on delete cascade,
  primary key (mount_id, name)
);
create index entity_aliases_by_entity on login.entity_aliases (entity_id);

create table login.tokens (
  hash bytea primary key, -- SHA-256 of the token; the token itself is nowhere
  accessor text not null unique,
  parent_accessor text references login.tokens (accessor) on delete cascade, -- revoking a parent revokes its children
  mount_id uuid references login.auth_mounts on delete cascade, -- the auth mount that issued it; disabling that revokes it
  namespace_id text not null references login.namespaces on delete cascade,
  display_name text not null,
  creation_path text not null,
  policies text[] not null,
  metadata jsonb not null default '{}',
  entity_id uuid,
  bound_cidrs text[] not null default '{}',
  renewable boolean not null,
  ttl_seconds bigint not null, -- as first asked for; 0 is for ever
  period_seconds bigint not null default 0,
  explicit_max_ttl_seconds bigint not null default 0,
  max_expires_at timestamptz, -- no renewal goes past it
  expires_at timestamptz,
  uses_left integer, -- null: as often as wanted
  login_source jsonb, -- mount, role and claims that a renewal is checked against
  created_at timestamptz not null default now(),
  renewed_at timestamptz
);
create index tokens_by_parent on login.tokens (parent_accessor) where parent_accessor is not null;
create index tokens_by_mount on login.tokens (mount_id) where mount_id is not null;
create index tokens_by_expiry on login.tokens (expires_at) where expires_at is not null;

-- One row once the first start has made the root token, so that a root token that was revoked stays revoked.
create table login.root_token (
  id boolean primary key default true check (id),
  made_at timestamptz not null default now()
);
