-- Entries for which their destination had no room: a removal there makes them due.
create index entries_without_room on sync.entries (destination_id, updated_at) where fault = 'full';

-- Names that keys of an association have not got because other entries of the destination have them, as these compare them. Once one of them is
-- free, the association is compared with its secret again. Earlier versions leave them as they are, which at most leads to one more comparison.
alter table sync.associations add column awaited_names text[] not null default '{}';
create index associations_awaiting_names on sync.associations (id) where awaited_names <> '{}';
