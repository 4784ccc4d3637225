-- The metadata that a client gives the alias of an entity; without effect, stored and shown.
alter table login.entity_aliases add column custom_metadata jsonb not null default '{}';
