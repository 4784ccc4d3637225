-- What clients say about an auth mount that has no effect here, and the name of the type by which it was enabled: stored and shown, as they
-- compare it with what they wrote.
alter table login.auth_mounts
  add column attributes jsonb not null default '{}',
  add column named_type text;
