-- When the first intent of an entry was recorded that is not achieved yet. Existing entries count from this migration on.
alter table sync.entries add column requested_at timestamptz not null default now();

-- The trace that the newest intent belongs to, as in the header of W3C Trace Context; null if it is not traced.
alter table sync.entries add column traceparent text;
