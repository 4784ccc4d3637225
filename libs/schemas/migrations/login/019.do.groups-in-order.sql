-- A page of groups in the order of their IDs must not read all groups of the namespace.
create index groups_by_namespace on login.groups (namespace_id, id);
