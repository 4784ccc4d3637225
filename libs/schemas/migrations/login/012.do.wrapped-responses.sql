-- Responses that can be read once, with their wrapping token.
create table login.wrapped_responses (
  hash bytea primary key, -- SHA-256 of the wrapping token; the token itself is not stored
  accessor text not null unique,
  namespace_id text not null, -- no foreign key: deleting a namespace must not take longer the more there are
  sealed bytea not null, -- the response, with the hash as associated data
  wrapped_accessor text, -- of the token in the response, if it is a login or creates a token
  ttl_seconds bigint not null,
  creation_path text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index wrapped_responses_by_expiry on login.wrapped_responses (expires_at);
