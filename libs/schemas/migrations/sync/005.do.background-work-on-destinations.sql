-- Work on a whole destination is recorded as a mark and done in pages in the background.

-- A destination that was deleted with force_delete has no namespace: its name is free and its namespace can be deleted. The row
-- remains until its entries and associations are deleted.
alter table sync.destinations
  alter column namespace_id drop not null,
  add column deleted_at timestamptz,
  add column retry_initiated_at timestamptz, -- entries that failed before this time are retried
  add constraint deleted_destinations_have_no_namespace check ((deleted_at is null) = (namespace_id is not null));
create index destinations_deleted on sync.destinations (deleted_at) where deleted_at is not null;
create index destinations_to_retry on sync.destinations (retry_initiated_at) where retry_initiated_at is not null;

create index entries_failed on sync.entries (destination_id, updated_at) where status = 'CLIENT_SIDE_ERROR';
create index associations_by_destination_and_name on sync.associations (destination_id, mount, secret_name);
create index associations_in_use on sync.associations (destination_id, id) where not removing;
