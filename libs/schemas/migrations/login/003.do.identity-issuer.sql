-- The issuer of identity tokens. No row until it is configured.
create table login.identity_issuer (
  id boolean primary key default true check (id),
  issuer text not null, -- the public base URL of this installation
  rotation_seconds bigint not null,
  verification_seconds bigint not null,
  updated_at timestamptz not null default now()
);

-- There is one key that signs, and one that is published before it does, so that whoever caches the keys knows it by then.
-- A retired key can no longer sign: its private part is deleted. It is published until the last token that it signed has expired.
create table login.identity_keys (
  id text primary key, -- `kid` in the header of a token
  state text not null check (state in ('next', 'current', 'retired')),
  public_jwk jsonb not null,
  sealed_private_key bytea check ((sealed_private_key is null) = (state = 'retired')),
  state_since timestamptz not null default now(),
  published_until timestamptz check ((published_until is not null) = (state = 'retired'))
);
create unique index identity_keys_by_state on login.identity_keys (state) where state <> 'retired';
create index identity_keys_by_end on login.identity_keys (published_until) where state = 'retired';
