-- The last look at an external secret, and what the last one that proved something has shown. A put that has read or written the
-- value counts as one. A version that does not know these columns leaves them: after its put, they are older than synced_at.
alter table sync.entries
  add column looked_at timestamptz, -- when the last look ended
  add column look_error text, -- why it has proved nothing
  add column verified_at timestamptz,
  add column drift text, -- none, changed, missing or foreign
  add column drift_seen_at timestamptz,
  add column evidence text; -- value, or mark
