-- The login method jwt: configurations and roles of its mounts (docs/conventions/jwt.md).

create table login.jwt_configs (
  mount_id uuid primary key references login.auth_mounts on delete cascade,
  settings jsonb not null,
  updated_at timestamptz not null default now()
);

create table login.jwt_roles (
  mount_id uuid not null references login.auth_mounts on delete cascade,
  name text not null, -- lower case
  settings jsonb not null,
  row_hash text, -- binds mount, name and settings
  updated_at timestamptz not null default now(),
  primary key (mount_id, name)
);
create trigger forget_row_hash before update on login.jwt_roles for each row
  when (new.settings is distinct from old.settings and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();
create index jwt_roles_by_row_key on login.jwt_roles (split_part(row_hash, ':', 1), mount_id, name);

-- JWTs of roles with `jwt_once` that have logged in. A row is needed as long as its JWT is valid.
create table login.used_jwts (
  mount_id uuid not null references login.auth_mounts on delete cascade,
  hash bytea not null, -- of its issuer and its ID
  expires_at timestamptz not null,
  primary key (mount_id, hash)
);
create index used_jwts_by_expiry on login.used_jwts (expires_at);
