-- Keys that came with a change of the secret and cannot be synced under any name: [{"key": …, "reason": …}]. Whoever
-- reads the association is shown them; setting it again names them or is refused. Not jsonb, which cannot hold every key that JSON can: a NUL, half of a surrogate pair.
alter table sync.associations add column unnamed_keys json not null default '[]';
