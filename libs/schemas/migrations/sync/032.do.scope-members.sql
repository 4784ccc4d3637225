-- The IDs that the provider has given to what a destination's settings name within its scope, such as selected repositories of an
-- organization, by name, as of the first contact. Null until the worker has seen one, or after an operator has confirmed others.
alter table sync.destinations add column scope_members jsonb;
