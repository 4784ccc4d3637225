-- The IDs of destinations that were deleted long ago are forgotten, the earliest first.
create index deleted_destinations_by_time on sync.deleted_destinations (deleted_at);
