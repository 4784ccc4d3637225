-- What clients say about a mount that has no effect here (local, seal_wrap, lease TTLs, …): stored and shown, as they compare it with what
-- they wrote.
alter table secrets.mounts add column attributes jsonb not null default '{}';
