-- When a put of the entry first recorded that it was about to write the external secret, and the secret has not been removed since.
-- For destinations whose secrets do not show which destination they belong to: after a crash, it is the only evidence that an existing
-- secret was written by this entry.
alter table sync.entries add column put_started_at timestamptz;
