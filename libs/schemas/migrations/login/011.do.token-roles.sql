-- What `auth/token/create/<role>` may grant.
create table login.token_roles (
  namespace_id text not null references login.namespaces on delete cascade,
  name text collate "C" not null,
  settings jsonb not null,
  updated_at timestamptz not null default now(),
  primary key (namespace_id, name)
);

-- The role with which a token was created; a renewal reads it.
alter table login.tokens add column role_name text;
