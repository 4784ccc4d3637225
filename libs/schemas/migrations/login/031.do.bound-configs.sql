-- A keyed hash of auth mount and settings (libs/access/src/rows). Null in rows of an earlier version.
alter table login.cloudb_configs add column row_hash text;
alter table login.jwt_configs add column row_hash text;
alter table login.kubernetes_configs add column row_hash text;

-- As for policies: the version before changes the settings without the hash.
create trigger forget_row_hash before update on login.cloudb_configs for each row
  when (new.settings is distinct from old.settings and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();
create trigger forget_row_hash before update on login.jwt_configs for each row
  when (new.settings is distinct from old.settings and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();
create trigger forget_row_hash before update on login.kubernetes_configs for each row
  when (new.settings is distinct from old.settings and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();

-- What another row key binds, after a rotation.
create index cloudb_configs_by_row_key on login.cloudb_configs (split_part(row_hash, ':', 1), mount_id);
create index jwt_configs_by_row_key on login.jwt_configs (split_part(row_hash, ':', 1), mount_id);
create index kubernetes_configs_by_row_key on login.kubernetes_configs (split_part(row_hash, ':', 1), mount_id);
