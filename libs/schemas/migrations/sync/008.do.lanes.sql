-- What shares one account's budget at a provider: how many of its entries may be outstanding, what is left of its budget, and until
-- when it is paused because it was throttled. The scheduler admits entries by it; workers report to it.
create table sync.lanes (
  id uuid primary key default gen_random_uuid(),
  destination_type text not null,
  account text not null, -- hash of what identifies the account; destinations of one account share a lane without knowing of each other
  window_size double precision not null default 2 check (window_size >= 1),
  threshold double precision not null default 64 check (threshold >= 1),
  failures integer not null default 0, -- pauses in a row
  refusals integer not null default 0, -- always 0: permissions are a matter of each destination
  paused_until timestamptz,
  reason text, -- the fault that paused it last; null while it is healthy
  tokens double precision not null default 0,
  refilled_at timestamptz not null default '-infinity',
  served_at timestamptz not null default '-infinity', -- when one of its entries was last admitted
  unique (destination_type, account)
);

alter table sync.destinations add column lane_id uuid references sync.lanes;
create index destinations_of_lane on sync.destinations (lane_id);

-- How one destination of a lane fares: it may be unreachable, or have dead credentials, on its own. No row: as a new one.
drop table sync.destination_health;
create table sync.destination_health (
  destination_id uuid primary key references sync.destinations on delete cascade,
  destination_type text not null,
  window_size double precision not null default 2 check (window_size >= 1),
  threshold double precision not null default 64 check (threshold >= 1),
  failures integer not null default 0, -- pauses in a row
  refusals integer not null default 0, -- forbidden calls in a row
  paused_until timestamptz,
  reason text, -- the fault that paused it last; null while it is healthy
  slow_until timestamptz -- a worker has seen a call of it hang
);
alter table sync.destination_health enable row level security;
create policy of_own_type on sync.destination_health using (sync.works_on(destination_type));

-- A destination that is written without a lane, by an older version or by hand, has one of its own.
create function sync.own_lane() returns trigger language plpgsql as $$
begin
  if new.lane_id is null then
    insert into sync.lanes (destination_type, account) values (new.type, 'destination:' || new.id)
      on conflict (destination_type, account) do update set account = excluded.account
      returning id into new.lane_id;
  end if;
  return new;
end $$;
create trigger own_lane before insert or update of lane_id on sync.destinations for each row execute function sync.own_lane();
update sync.destinations set lane_id = null;
alter table sync.destinations alter column lane_id set not null;

-- Which entry goes first within a lane: 0 what a user asked for, 1 retries, 2 what reconciliation found.
alter table sync.entries add column priority smallint not null default 0;

-- Entries that are due, by destination: the scheduler looks at each destination's first ones.
create index entries_waiting on sync.entries (destination_id, priority, due_at) where due_at is not null;
-- Entries that are enqueued or in progress: at most a window of them per lane.
create index entries_outstanding on sync.entries (destination_id) include (announced_at, due_at, lease_until)
  where announced_at is not null or lease_until is not null;
-- Whether anything of a type is due. Also for what counts all that is due.
create index entries_due_of_type on sync.entries (destination_type, due_at) where due_at is not null;
drop index sync.entries_due;

-- Live workers and how many entries each works on at once; the queue of a type is kept short in proportion.
create table sync.workers (
  id text primary key,
  destination_type text not null,
  slots integer not null check (slots > 0),
  seen_at timestamptz not null default now()
);

alter table sync.lanes enable row level security;
create policy of_own_type on sync.lanes using (sync.works_on(destination_type));
alter table sync.workers enable row level security;
create policy of_own_type on sync.workers using (sync.works_on(destination_type));
