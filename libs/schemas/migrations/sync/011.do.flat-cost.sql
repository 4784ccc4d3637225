-- No statement's cost grows with the table: services/setup/tests/flat-cost.

-- The failed removals of a destination, among many entries that failed otherwise.
create index entries_removal_failed on sync.entries (destination_id) where desired = 'absent' and status = 'CLIENT_SIDE_ERROR';

-- The list of associated secrets skips those of destinations that are being deleted without reading the table.
drop index sync.associations_by_name;
create index associations_by_name on sync.associations (namespace_id, mount, secret_name, destination_id);

-- Pages of marked associations and their sum, without reading the others or the table.
drop index sync.associations_without_source;
create index associations_without_source on sync.associations (destination_id, source_gone_at, id) include (source_removals)
  where source_gone_at is not null;
