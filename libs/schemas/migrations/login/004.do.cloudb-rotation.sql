-- The rotation of client secrets: one row for each configuration that has a secret. Each step of a rotation is recorded here before or
-- right after its effect on the provider's application, so that any process can continue it.
create table login.cloudb_rotations (
  mount_id uuid primary key references login.cloudb_configs on delete cascade,
  secret_since timestamptz not null default now(), -- when the current secret was entered or made current
  current_key_id text, -- of the current secret, if a rotation added it
  expires_at timestamptz, -- of the current secret, if a rotation added it
  pending_key_id text, -- of the password that replaces the current one as soon as it works
  pending_since timestamptz,
  pending_expires_at timestamptz,
  sealed_pending_secret bytea,
  replaced_key_id text, -- of the current secret, as found before the pending one was added; null if it is not known
  retired_key_id text, -- of the secret before the current one, which is still to be removed
  discarded_key_ids text[] not null default '{}', -- of pending passwords that were never used, which are still to be removed
  scheduled_at timestamptz, -- the next scheduled rotation
  due_at timestamptz, -- when the background work looks at the row again
  failures integer not null default 0, -- in a row
  fence bigint not null default 0, -- grows with each lease; a process that writes names its own
  leased_until timestamptz,
  check ((pending_key_id is null) = (sealed_pending_secret is null))
);
create index cloudb_rotations_by_due on login.cloudb_rotations (due_at) where due_at is not null;

-- Attempts to add a password of which the ID is not recorded. The password, if it exists, has the ID of the attempt in its name.
create table login.cloudb_rotation_attempts (
  id uuid primary key,
  mount_id uuid not null references login.cloudb_rotations on delete cascade,
  started_at timestamptz not null default now()
);
create index cloudb_rotation_attempts_by_mount on login.cloudb_rotation_attempts (mount_id);

insert into login.cloudb_rotations (mount_id, secret_since)
  select mount_id, updated_at from login.cloudb_configs where sealed_client_secret is not null;
