-- Names and IDs are compared without regard to letter case. An alias is stored in lower case, and as it was given beside it. The trigger does this for
-- instances of the version before as well, whose aliases in another letter case are then refused by the primary key.
alter table login.entity_aliases add column given_name text;
alter table login.group_aliases add column given_name text;

-- Of several aliases that differ only in letter case, one becomes the alias; the others stay as they are, and are shown to the operator.
update login.entity_aliases a set given_name = a.name, name = lower(a.name)
from (
  select mount_id, min(name) as name from login.entity_aliases group by mount_id, lower(name)
  having bool_and(name <> lower(name))
) one
where a.mount_id = one.mount_id and a.name = one.name;

create function login.fold_alias() returns trigger
  language plpgsql set search_path = '' as $$
begin
  new.given_name := nullif(new.name, lower(new.name));
  new.name := lower(new.name);
  return new;
end $$;
create trigger fold_alias before insert or update of name on login.entity_aliases
  for each row execute function login.fold_alias();
create trigger fold_alias before insert or update of name on login.group_aliases
  for each row execute function login.fold_alias();
create index entity_aliases_in_other_case on login.entity_aliases (mount_id, lower(name)) where name <> lower(name);

-- In the collation of the database, because "C" may know only the letters of ASCII.
create index entities_by_folded_name on login.entities (namespace_id, lower(name collate "default")) where name is not null;
create index groups_by_folded_name on login.groups (namespace_id, lower(name collate "default"));
