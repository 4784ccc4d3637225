-- Imports of external secrets into a mount. A destination has the last one, and only one that runs. What it does is sealed with who
-- requested it: a changed row must not write other secrets, or with other rights.
create table sync.imports (
  destination_id uuid primary key references sync.destinations on delete cascade,
  id uuid not null unique,
  sealed_request bytea not null, -- and where the next page begins
  is_listed boolean not null default false, -- whether every external secret has its line
  state text not null default 'running' check (state in ('running', 'done', 'cancelled', 'failed')),
  error text, -- why it has failed, or waits
  counts jsonb not null default '{}', -- of the lines, by their result
  lines integer not null default 0,
  attempts integer not null default 0, -- in a row that have failed
  due_at timestamptz not null default now(), -- when it continues, and while a process has a page, when that counts as lost
  fence uuid, -- of the process that has the page
  requested_at timestamptz not null default now(),
  ended_at timestamptz
) with (fillfactor = 50);
create index imports_due on sync.imports (due_at) where state = 'running';
create index imports_in_progress on sync.imports (destination_id) where fence is not null;

create table sync.import_lines (
  import_id uuid not null references sync.imports (id) on delete cascade,
  number integer not null,
  external_name text not null,
  path text,
  result text not null,
  reason text,
  is_written boolean not null,
  association text check (association in ('requested', 'associated', 'refused')),
  primary key (import_id, number)
);
create index import_lines_by_path on sync.import_lines (import_id, path) where path is not null;
create index import_lines_to_associate on sync.import_lines (import_id, number) where association = 'requested';
