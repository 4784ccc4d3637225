-- How many times the sweep has requested the removal of a probe that a check has left behind. It gives up after a number of requests,
-- not after a time in which nothing may have been running.
alter table sync.destination_checks add column removals integer not null default 0;
