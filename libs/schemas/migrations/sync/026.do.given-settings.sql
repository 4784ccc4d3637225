-- The settings of a destination that were set, as they were given: the names, order and letter case that clients compare with what they
-- wrote, where the setting itself is stored in one form. Null for destinations that were last written before this column existed.
alter table sync.destinations add column given jsonb;
