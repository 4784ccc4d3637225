-- Of which moment the newest backup is that `setup` has completed; until there is one, when counting began. Its age is a metric.
create table secrets.last_backup (
  id boolean primary key default true check (id),
  at timestamptz not null default now()
);
insert into secrets.last_backup default values;
