-- Lists are in the order of the bytes, and a path is looked for among those at, above or below it. Both must not read all rows of a namespace.
create index auth_mounts_in_order on login.auth_mounts (namespace_id, path collate "C");
create index policies_in_order on login.policies (namespace_id, name collate "C");
-- The expression is the path of the namespace above.
create index namespaces_by_parent on login.namespaces (regexp_replace(path, '/?[^/]*$', ''), path collate "C") where path <> '';
