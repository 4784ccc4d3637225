-- Rules: what matches is associated with the destination, for the owner that is sealed in the row (docs/adr/0052-rules.md).
create table sync.rules (
  id uuid primary key,
  destination_id uuid not null references sync.destinations on delete cascade,
  name text collate "C" not null,
  mount_id uuid not null,
  mount text not null,
  path text not null,
  beginning text collate "C" not null, -- the whole segments of the path before the first + or *
  exclude text[] not null,
  metadata_match jsonb not null,
  sealed_owner bytea not null,
  version integer not null default 1, -- increases with each write
  xid xid8 not null default pg_current_xact_id(), -- that has written the pattern: a run begins when no earlier transaction is in progress
  phase text not null default 'matching' check (phase in ('matching', 'releasing', 'resting', 'ending')),
  keeps boolean not null default false, -- whether its associations become ones held by hand when it has ended
  run_id uuid not null default gen_random_uuid(),
  position text collate "C" not null default '', -- of the last path, or the last association that was looked at
  matched_so_far integer not null default 0, -- in the current run
  matched integer, -- in the last run that has ended
  last_run_at timestamptz,
  error text, -- why it does not continue
  attempts integer not null default 0, -- in a row that have failed
  due_at timestamptz not null default now(), -- when it continues, and while a process has a page, when that counts as lost
  fence uuid, -- of the process that has the page
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (destination_id, name)
) with (fillfactor = 50);
create index rules_due on sync.rules (due_at);
create index rules_by_beginning on sync.rules (mount_id, beginning);
create index rules_in_progress on sync.rules (id) where fence is not null;

-- An association may be held by hand and by rules. It ends when nothing holds it any more.
alter table sync.associations add column by_hand boolean not null default true;
create table sync.rule_holds (
  rule_id uuid not null references sync.rules on delete cascade,
  association_id uuid not null references sync.associations on delete cascade,
  run_id uuid not null, -- the run that has confirmed it last
  primary key (rule_id, association_id)
);
create index rule_holds_of_association on sync.rule_holds (association_id);

-- Secrets that match, but could not be associated. Each is tried again.
create table sync.rule_refusals (
  id uuid primary key default gen_random_uuid(),
  rule_id uuid not null references sync.rules on delete cascade,
  secret_id uuid not null,
  path text collate "C" not null,
  reason text not null,
  attempts integer not null default 0,
  refused_at timestamptz not null default now(),
  due_at timestamptz not null,
  unique (rule_id, secret_id)
);
create index rule_refusals_due on sync.rule_refusals (due_at);
create index rule_refusals_of_secret on sync.rule_refusals (secret_id);

create function sync.watch_pattern() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' or new.phase = 'ending' then
    delete from secrets.watched_patterns where rule_id = case when tg_op = 'DELETE' then old.id else new.id end;
  else
    insert into secrets.watched_patterns (rule_id, mount_id, beginning) values (new.id, new.mount_id, new.beginning)
    on conflict (rule_id) do update set mount_id = excluded.mount_id, beginning = excluded.beginning;
  end if;
  return null;
end $$;
create trigger watch_pattern after insert or delete or update of version on sync.rules
  for each row execute function sync.watch_pattern();
revoke all on function sync.watch_pattern() from public;

-- Rules that are written and deleted, and what they first refuse, are events. The name of a rule is in the column `work`.
create function sync.record_rule() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, work)
  values (case when tg_op = 'INSERT' then 'rule_created' when new.phase = 'ending' then 'rule_deleted' else 'rule_updated' end,
          new.destination_id, new.name);
  return null;
end $$;
create trigger record_rule after insert or update of version on sync.rules for each row execute function sync.record_rule();
revoke all on function sync.record_rule() from public;

create function sync.record_refusal() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into sync.events (kind, destination_id, work, mount, secret_name)
  select 'rule_refused', r.destination_id, r.name, r.mount, new.path from sync.rules r where r.id = new.rule_id;
  return null;
end $$;
create trigger record_refusal after insert on sync.rule_refusals for each row execute function sync.record_refusal();
revoke all on function sync.record_refusal() from public;

-- A moved mount keeps its rules, as its associations.
create function sync.move_rules() returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  update sync.rules set mount = new.path where mount_id = new.id;
  return null;
end $$;
create trigger moved_mount_of_rules after update of path on secrets.mounts
  for each row when (old.path <> new.path) execute function sync.move_rules();
revoke all on function sync.move_rules() from public;
