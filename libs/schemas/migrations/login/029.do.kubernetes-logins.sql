-- The login method kubernetes: configurations and roles of its mounts (docs/conventions/kubernetes.md).

create table login.kubernetes_configs (
  mount_id uuid primary key references login.auth_mounts on delete cascade,
  settings jsonb not null,
  sealed_token_reviewer_jwt bytea,
  updated_at timestamptz not null default now()
);

create table login.kubernetes_roles (
  mount_id uuid not null references login.auth_mounts on delete cascade,
  name text not null, -- lower case
  settings jsonb not null,
  row_hash text, -- binds mount, name and settings
  updated_at timestamptz not null default now(),
  primary key (mount_id, name)
);
create trigger forget_row_hash before update on login.kubernetes_roles for each row
  when (new.settings is distinct from old.settings and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();
create index kubernetes_roles_by_row_key on login.kubernetes_roles (split_part(row_hash, ':', 1), mount_id, name);
