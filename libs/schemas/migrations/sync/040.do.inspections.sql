-- The progress of the looks at all external secrets of a destination. A round looks at each of them once, in pages. Unchanged ones
-- are remembered here and in columns of their entries without an index. The page has room for new versions of the row.
create table sync.inspections (
  destination_id uuid primary key references sync.destinations (id) on delete cascade,
  destination_type text not null,
  due_at timestamptz default now(), -- when it is seen to again, and while a worker has a page, when that counts as lost; null for never
  round_started_at timestamptz not null default now(),
  is_in_round boolean not null default false,
  position text not null default '', -- the collision key of the last entry that was seen in this round
  seen bigint not null default 0, -- entries seen in this round
  last_seen bigint not null default 0, -- in the one before
  page_id uuid, -- the page that a worker has
  page_end text, -- the position after it; null if it is the last one of its round
  page_seen integer not null default 0
) with (fillfactor = 50);
create index inspections_due on sync.inspections (destination_type, due_at);
create index inspections_sent on sync.inspections (destination_type, due_at) where page_id is not null;

-- A new destination has an inspection, whichever version creates it, and changed settings take effect at once.
create function sync.keep_inspection() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.inspections as i (destination_id, destination_type) values (new.id, new.type)
  on conflict (destination_id) do update set due_at = now() where i.page_id is null;
  return null;
end $$;
create trigger start_inspection after insert on sync.destinations for each row execute function sync.keep_inspection();
create trigger change_inspection after update of settings on sync.destinations
  for each row when (old.settings is distinct from new.settings) execute function sync.keep_inspection();

-- Existing destinations begin at different times of their first period.
insert into sync.inspections (destination_id, destination_type, round_started_at)
  select id, type, now() - random() * interval '1 day' from sync.destinations;
