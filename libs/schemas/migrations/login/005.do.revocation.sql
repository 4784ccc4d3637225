-- Revoking a token, disabling an auth mount and deleting a namespace change one row, however many tokens depend on it: these are refused from
-- the commit on, and deleted in pages afterwards. Deleting them by cascade would take as long as there are tokens.
alter table login.tokens
  drop constraint tokens_mount_id_fkey,
  drop constraint tokens_namespace_id_fkey,
  add column orphans_children boolean not null default false; -- was revoked alone: its children have no parent
alter table login.entities drop constraint entities_namespace_id_fkey;
alter table login.entity_aliases drop constraint entity_aliases_mount_id_fkey;

create index tokens_by_namespace on login.tokens (namespace_id, accessor collate "C");
create index entities_by_namespace on login.entities (namespace_id, id);

-- Auth mounts and namespaces that were removed, and whose tokens and entities are still to be deleted.
create table login.removed_owners (
  id text primary key,
  kind text not null check (kind in ('auth mount', 'namespace')),
  removed_at timestamptz not null default now()
);

-- Triggers, so that a replica of the previous version, which expects a cascade, records it too.
create function login.record_removed_owner() returns trigger language plpgsql as $$
begin
  insert into login.removed_owners (id, kind) values (old.id::text, tg_argv[0]);
  return null;
end $$;
create trigger removed_owner after delete on login.auth_mounts
  for each row execute function login.record_removed_owner('auth mount');
create trigger removed_owner after delete on login.namespaces
  for each row execute function login.record_removed_owner('namespace');
