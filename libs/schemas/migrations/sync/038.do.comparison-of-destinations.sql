-- Whether the push of a destination's entries reads every external secret, also those that are not known to differ, and whether
-- it may replace foreign ones.
alter table sync.destinations
  add column push_verifies boolean not null default false,
  add column push_overwrites boolean not null default false;
