-- When the directory said that the entity is in these groups. Null if no login has named them since this column exists.
alter table login.entity_aliases add column groups_issued_at timestamptz;
