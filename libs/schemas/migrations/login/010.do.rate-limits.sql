-- The rate limits that operators define.
create table login.rate_limit_quotas (
  name text collate "C" primary key,
  namespace_id text not null references login.namespaces on delete cascade,
  path text not null, -- in that namespace, without slashes at the ends; empty: all of it
  written_path text not null, -- of both, as it was written
  rate double precision not null, -- requests per interval
  interval_seconds bigint not null,
  block_seconds bigint not null,
  inheritable boolean not null, -- whether it applies in the namespaces below as well
  group_by text not null check (group_by in ('ip', 'none')),
  created_at timestamptz not null default now(),
  unique (namespace_id, path)
);

-- What the gateways have used of limits, theirs and those that are built in. It is only of use for seconds, so losing it in a crash is harmless.
create unlogged table login.rate_limit_usage (
  key text collate "C" not null,
  ends_at timestamptz not null, -- when the interval ends, or until when the key is blocked
  taken bigint not null,
  primary key (key, ends_at)
);
create index rate_limit_usage_by_end on login.rate_limit_usage (ends_at);
