-- The seal keys with which something in this schema may be encrypted. A key is recorded before it encrypts, and deleted when a rotation
-- has found that nothing is encrypted with it any more. A service does not start without a key that is listed here.
create table secrets.seal_keys (
  id text primary key, -- as in the key file
  fingerprint text not null, -- a keyed hash of nothing: shows that a key file contains another key of the same name
  used_at timestamptz not null default now() -- when a process last reported that it encrypts with this key
);

-- The newest rotation: everything in this schema is encrypted again with one key, page by page. At most one row.
create table secrets.seal_rotation (
  only_one boolean primary key default true check (only_one),
  key_id text not null,
  started_at timestamptz not null default now(),
  pass_started_at timestamptz not null default now(), -- a pass goes through all tables
  at_table text, -- where the pass is; null between two passes
  after_key text[], -- of the last row that was checked there; null before the first one
  checked bigint not null default 0, -- rows, in this pass
  encrypted bigint not null default 0, -- rows, in all passes
  locked bigint not null default 0, -- rows that were locked, in this pass
  unreadable bigint not null default 0, -- rows that cannot be decrypted, in this pass
  finished_at timestamptz
);
