-- Entries that a write of their destination retries. Those whose external secrets somebody else has changed have the same status,
-- and no fault; they wait for a set, a retry or a new version.
create index entries_refused on sync.entries (destination_id, updated_at)
  where status = 'CLIENT_SIDE_ERROR' and (fault is not null or drift is null or drift = 'none');
