-- The literal beginnings of the paths that rules of sync-control match, in whole segments. A trigger on those rules writes them, in the
-- transaction of the rule (docs/adr/0052-rules.md).
create table secrets.watched_patterns (
  rule_id uuid primary key,
  mount_id uuid not null references secrets.mounts on delete cascade,
  beginning text collate "C" not null
);
create index watched_patterns_by_beginning on secrets.watched_patterns (mount_id, beginning);

-- Whether rules may match the secret since this change.
alter table secrets.outbox add column to_match boolean not null default false;
