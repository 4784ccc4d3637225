-- A keyed hash of namespace, name and rules (libs/access/src/rows). Null in rows of an earlier version.
alter table login.policies add column row_hash text;

-- The version before changes the rules without the hash, which is then of other rules.
create function login.forget_row_hash() returns trigger language plpgsql set search_path = '' as $$
begin
  new.row_hash := null;
  return new;
end $$;
create trigger forget_row_hash before update on login.policies for each row
  when (new.rules is distinct from old.rules and new.row_hash is not distinct from old.row_hash) execute function login.forget_row_hash();

-- What another row key binds, after a rotation.
create index policies_by_row_key on login.policies (split_part(row_hash, ':', 1), namespace_id, name);
