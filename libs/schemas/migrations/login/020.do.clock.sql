-- The newest time that a process has seen on the clock of the database: a clock that is behind it was set back
-- (docs/adr/0043-a-clock-that-is-set-back.md). The page has room for new versions of the row, which then need no entry in the index.
create table login.clock (
  id boolean primary key default true check (id),
  seen_at timestamptz not null default now(),
  set_back_at timestamptz -- when it was noticed, until the deadlines of this schema are corrected
) with (fillfactor = 10);
insert into login.clock default values;
