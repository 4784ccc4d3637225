-- The ID that the provider has given to what a destination's external secrets belong to, such as a repository, as of the first contact. Names
-- can be taken by something else; null until the worker has seen one.
alter table sync.destinations add column scope_id text;

-- When an operator has replaced the ID. What was synced before that is somewhere else.
alter table sync.destinations add column scope_confirmed_at timestamptz;
