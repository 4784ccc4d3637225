-- A keyed hash of namespace or auth mount, name and settings (libs/access/src/rows). Null in rows of an earlier version.
alter table login.token_roles add column row_hash text;
alter table login.cloudb_roles add column row_hash text;

-- As for policies: the version before changes the settings without the hash.
create trigger forget_row_hash before update on login.token_roles for each row
  when (new.settings is distinct from old.settings and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();
create trigger forget_row_hash before update on login.cloudb_roles for each row
  when (new.settings is distinct from old.settings and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();

-- What another row key binds, after a rotation.
create index token_roles_by_row_key on login.token_roles (split_part(row_hash, ':', 1), namespace_id, name);
create index cloudb_roles_by_row_key on login.cloudb_roles (split_part(row_hash, ':', 1), mount_id, name);
