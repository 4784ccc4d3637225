-- login: up to 031.do.bound-configs.sql
-- secrets: up to 011.do.watched-patterns.sql
-- sync: up to 058.do.rule-health.sql

create table login.access_changes (
  change_id uuid,
  concerns text[] not null,
  epoch bigint not null,
  constraint access_changes_pkey PRIMARY KEY (epoch)
);

create table login.access_epoch (
  change_id uuid default gen_random_uuid() not null,
  id boolean default true not null,
  value bigint default 0 not null,
  constraint access_epoch_id_check CHECK (id),
  constraint access_epoch_pkey PRIMARY KEY (id)
);

create table login.auth_mounts (
  accessor text not null,
  attributes jsonb default '{}'::jsonb not null,
  created_at timestamp with time zone default now() not null,
  default_lease_seconds bigint default 0 not null,
  description text default ''::text not null,
  id uuid default gen_random_uuid() not null,
  max_lease_seconds bigint default 0 not null,
  named_type text,
  namespace_id text not null,
  path text not null,
  type text not null,
  constraint auth_mounts_accessor_key UNIQUE (accessor),
  constraint auth_mounts_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES login.namespaces(id) ON DELETE CASCADE,
  constraint auth_mounts_namespace_id_path_key UNIQUE (namespace_id, path),
  constraint auth_mounts_pkey PRIMARY KEY (id)
);

create table login.clock (
  id boolean default true not null,
  seen_at timestamp with time zone default now() not null,
  set_back_at timestamp with time zone,
  constraint clock_id_check CHECK (id),
  constraint clock_pkey PRIMARY KEY (id)
);

create table login.cloudb_configs (
  mount_id uuid not null,
  revision bigint default login.random_revision() not null,
  row_hash text,
  sealed_client_secret bytea,
  settings jsonb not null,
  updated_at timestamp with time zone default now() not null,
  constraint cloudb_configs_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint cloudb_configs_pkey PRIMARY KEY (mount_id)
);

create table login.cloudb_roles (
  mount_id uuid not null,
  name text not null,
  row_hash text,
  settings jsonb not null,
  updated_at timestamp with time zone default now() not null,
  constraint cloudb_roles_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint cloudb_roles_pkey PRIMARY KEY (mount_id, name)
);

create table login.cloudb_rotation_attempts (
  id uuid not null,
  mount_id uuid not null,
  started_at timestamp with time zone default now() not null,
  constraint cloudb_rotation_attempts_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.cloudb_rotations(mount_id) ON DELETE CASCADE,
  constraint cloudb_rotation_attempts_pkey PRIMARY KEY (id)
);

create table login.cloudb_rotations (
  current_key_id text,
  discarded_key_ids text[] default '{}'::text[] not null,
  due_at timestamp with time zone,
  expires_at timestamp with time zone,
  failures integer default 0 not null,
  fence bigint default 0 not null,
  leased_until timestamp with time zone,
  mount_id uuid not null,
  pending_expires_at timestamp with time zone,
  pending_key_id text,
  pending_since timestamp with time zone,
  replaced_key_id text,
  retired_key_id text,
  scheduled_at timestamp with time zone,
  sealed_pending_secret bytea,
  secret_since timestamp with time zone default now() not null,
  constraint cloudb_rotations_check CHECK (((pending_key_id IS NULL) = (sealed_pending_secret IS NULL))),
  constraint cloudb_rotations_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.cloudb_configs(mount_id) ON DELETE CASCADE,
  constraint cloudb_rotations_pkey PRIMARY KEY (mount_id)
);

create table login.entities (
  created_at timestamp with time zone default now() not null,
  disabled boolean default false not null,
  id uuid default gen_random_uuid() not null,
  metadata jsonb default '{}'::jsonb not null,
  name text collate "C",
  namespace_id text not null,
  policies text[] default '{}'::text[] not null,
  updated_at timestamp with time zone default now() not null,
  constraint entities_pkey PRIMARY KEY (id)
);

create table login.entity_aliases (
  custom_metadata jsonb default '{}'::jsonb not null,
  entity_id uuid not null,
  given_name text,
  groups text[] default '{}'::text[] not null,
  groups_issued_at timestamp with time zone,
  mount_id uuid not null,
  name text not null,
  constraint entity_aliases_entity_id_fkey FOREIGN KEY (entity_id) REFERENCES login.entities(id) ON DELETE CASCADE,
  constraint entity_aliases_pkey PRIMARY KEY (mount_id, name)
);

create table login.group_aliases (
  created_at timestamp with time zone default now() not null,
  given_name text,
  group_id uuid not null,
  id uuid default gen_random_uuid() not null,
  mount_id uuid not null,
  name text not null,
  updated_at timestamp with time zone default now() not null,
  constraint group_aliases_group_id_fkey FOREIGN KEY (group_id) REFERENCES login.groups(id) ON DELETE CASCADE,
  constraint group_aliases_group_id_key UNIQUE (group_id),
  constraint group_aliases_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint group_aliases_mount_id_name_key UNIQUE (mount_id, name),
  constraint group_aliases_pkey PRIMARY KEY (id)
);

create table login.groups (
  created_at timestamp with time zone default now() not null,
  id uuid default gen_random_uuid() not null,
  metadata jsonb default '{}'::jsonb not null,
  name text collate "C" not null,
  namespace_id text not null,
  policies text[] default '{}'::text[] not null,
  updated_at timestamp with time zone default now() not null,
  constraint groups_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES login.namespaces(id) ON DELETE CASCADE,
  constraint groups_namespace_id_name_key UNIQUE (namespace_id, name),
  constraint groups_pkey PRIMARY KEY (id)
);

create table login.identity_issuer (
  id boolean default true not null,
  issuer text not null,
  rotation_seconds bigint not null,
  updated_at timestamp with time zone default now() not null,
  verification_seconds bigint not null,
  constraint identity_issuer_id_check CHECK (id),
  constraint identity_issuer_pkey PRIMARY KEY (id)
);

create table login.identity_keys (
  id text not null,
  public_jwk jsonb not null,
  published_until timestamp with time zone,
  sealed_private_key bytea,
  state text not null,
  state_since timestamp with time zone default now() not null,
  constraint identity_keys_check CHECK (((sealed_private_key IS NULL) = (state = 'retired'::text))),
  constraint identity_keys_check1 CHECK (((published_until IS NOT NULL) = (state = 'retired'::text))),
  constraint identity_keys_pkey PRIMARY KEY (id),
  constraint identity_keys_state_check CHECK ((state = ANY (ARRAY['next'::text, 'current'::text, 'retired'::text])))
);

create table login.jwt_configs (
  mount_id uuid not null,
  row_hash text,
  sealed_oidc_client_secret bytea,
  settings jsonb not null,
  updated_at timestamp with time zone default now() not null,
  constraint jwt_configs_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint jwt_configs_pkey PRIMARY KEY (mount_id)
);

create table login.jwt_roles (
  mount_id uuid not null,
  name text not null,
  row_hash text,
  settings jsonb not null,
  updated_at timestamp with time zone default now() not null,
  constraint jwt_roles_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint jwt_roles_pkey PRIMARY KEY (mount_id, name)
);

create table login.kubernetes_configs (
  mount_id uuid not null,
  row_hash text,
  sealed_token_reviewer_jwt bytea,
  settings jsonb not null,
  updated_at timestamp with time zone default now() not null,
  constraint kubernetes_configs_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint kubernetes_configs_pkey PRIMARY KEY (mount_id)
);

create table login.kubernetes_roles (
  mount_id uuid not null,
  name text not null,
  row_hash text,
  settings jsonb not null,
  updated_at timestamp with time zone default now() not null,
  constraint kubernetes_roles_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint kubernetes_roles_pkey PRIMARY KEY (mount_id, name)
);

create table login.namespaces (
  created_at timestamp with time zone default now() not null,
  custom_metadata jsonb default '{}'::jsonb not null,
  id text not null,
  path text not null,
  constraint namespaces_path_key UNIQUE (path),
  constraint namespaces_pkey PRIMARY KEY (id)
);

create table login.policies (
  name text not null,
  namespace_id text not null,
  path_count integer generated always as (COALESCE(jsonb_array_length(rules -> 'paths'::text), 0)) stored not null,
  plus_path_count integer generated always as (COALESCE(jsonb_array_length(jsonb_path_query_array(rules, '$."paths"[*]."path"?(@ like_regex "(^|/)\\+(/|$)")'::jsonpath)), 0)) stored not null,
  row_hash text,
  rules jsonb not null,
  source text not null,
  updated_at timestamp with time zone default now() not null,
  constraint policies_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES login.namespaces(id) ON DELETE CASCADE,
  constraint policies_pkey PRIMARY KEY (namespace_id, name)
);

create table login.rate_limit_quotas (
  block_seconds bigint not null,
  created_at timestamp with time zone default now() not null,
  group_by text not null,
  inheritable boolean not null,
  interval_seconds bigint not null,
  name text collate "C" not null,
  namespace_id text not null,
  path text not null,
  rate double precision not null,
  written_path text not null,
  constraint rate_limit_quotas_group_by_check CHECK ((group_by = ANY (ARRAY['ip'::text, 'none'::text]))),
  constraint rate_limit_quotas_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES login.namespaces(id) ON DELETE CASCADE,
  constraint rate_limit_quotas_namespace_id_path_key UNIQUE (namespace_id, path),
  constraint rate_limit_quotas_pkey PRIMARY KEY (name)
);

create table login.rate_limit_usage (
  ends_at timestamp with time zone not null,
  key text collate "C" not null,
  taken bigint not null,
  constraint rate_limit_usage_pkey PRIMARY KEY (key, ends_at)
);

create table login.removed_owners (
  id text not null,
  kind text not null,
  removed_at timestamp with time zone default now() not null,
  constraint removed_owners_kind_check CHECK ((kind = ANY (ARRAY['auth mount'::text, 'namespace'::text]))),
  constraint removed_owners_pkey PRIMARY KEY (id)
);

create table login.root_token (
  id boolean default true not null,
  made_at timestamp with time zone default now() not null,
  recovery_accessor text,
  constraint root_token_id_check CHECK (id),
  constraint root_token_pkey PRIMARY KEY (id)
);

create table login.schema_version (
  md5 text,
  name text,
  run_at timestamp with time zone,
  version bigint not null,
  constraint schema_version_pkey PRIMARY KEY (version)
);

create table login.seal_keys (
  fingerprint text not null,
  id text not null,
  used_at timestamp with time zone default now() not null,
  constraint seal_keys_pkey PRIMARY KEY (id)
);

create table login.seal_rotation (
  after_key text[],
  at_table text,
  checked bigint default 0 not null,
  encrypted bigint default 0 not null,
  finished_at timestamp with time zone,
  key_id text not null,
  locked bigint default 0 not null,
  only_one boolean default true not null,
  pass_started_at timestamp with time zone default now() not null,
  started_at timestamp with time zone default now() not null,
  unreadable bigint default 0 not null,
  constraint seal_rotation_only_one_check CHECK (only_one),
  constraint seal_rotation_pkey PRIMARY KEY (only_one)
);

create table login.token_roles (
  name text collate "C" not null,
  namespace_id text not null,
  row_hash text,
  settings jsonb not null,
  updated_at timestamp with time zone default now() not null,
  constraint token_roles_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES login.namespaces(id) ON DELETE CASCADE,
  constraint token_roles_pkey PRIMARY KEY (namespace_id, name)
);

create table login.tokens (
  accessor text not null,
  bound_cidrs text[] default '{}'::text[] not null,
  created_at timestamp with time zone default now() not null,
  creation_path text not null,
  display_name text not null,
  entity_id uuid,
  expires_at timestamp with time zone,
  explicit_max_ttl_seconds bigint default 0 not null,
  hash bytea not null,
  login_source jsonb,
  max_expires_at timestamp with time zone,
  metadata jsonb default '{}'::jsonb not null,
  mount_id uuid,
  namespace_id text not null,
  orphans_children boolean default false not null,
  parent_accessor text,
  period_seconds bigint default 0 not null,
  policies text[] not null,
  renewable boolean not null,
  renewed_at timestamp with time zone,
  role_name text,
  row_hash text,
  ttl_seconds bigint not null,
  uses_left integer,
  constraint tokens_accessor_key UNIQUE (accessor),
  constraint tokens_parent_accessor_fkey FOREIGN KEY (parent_accessor) REFERENCES login.tokens(accessor) ON DELETE CASCADE,
  constraint tokens_pkey PRIMARY KEY (hash)
);

create table login.used_jwts (
  expires_at timestamp with time zone not null,
  hash bytea not null,
  mount_id uuid not null,
  constraint used_jwts_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES login.auth_mounts(id) ON DELETE CASCADE,
  constraint used_jwts_pkey PRIMARY KEY (mount_id, hash)
);

create table login.wrapped_responses (
  accessor text not null,
  bytes bigint,
  created_at timestamp with time zone default now() not null,
  creation_path text not null,
  expires_at timestamp with time zone not null,
  hash bytea not null,
  namespace_id text not null,
  sealed bytea not null,
  ttl_seconds bigint not null,
  wrapped_accessor text,
  constraint wrapped_responses_accessor_key UNIQUE (accessor),
  constraint wrapped_responses_pkey PRIMARY KEY (hash)
);

create table login.wrapped_space (
  bytes bigint not null,
  namespace_id text not null,
  constraint wrapped_space_pkey PRIMARY KEY (namespace_id)
);

create table secrets.clock (
  id boolean default true not null,
  seen_at timestamp with time zone default now() not null,
  set_back_at timestamp with time zone,
  constraint clock_id_check CHECK (id),
  constraint clock_pkey PRIMARY KEY (id)
);

create table secrets.event_listening (
  id boolean default true not null,
  until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint event_listening_id_check CHECK (id),
  constraint event_listening_pkey PRIMARY KEY (id)
);

create table secrets.events (
  at timestamp with time zone default clock_timestamp() not null,
  current_version integer,
  id bigint generated as identity not null,
  kind text not null,
  mount_id uuid not null,
  oldest_version integer,
  path text collate "C" not null,
  versions integer[],
  xid xid8 default pg_current_xact_id() not null,
  constraint events_pkey PRIMARY KEY (id)
);

create table secrets.last_backup (
  at timestamp with time zone default now() not null,
  id boolean default true not null,
  constraint last_backup_id_check CHECK (id),
  constraint last_backup_pkey PRIMARY KEY (id)
);

create table secrets.mounts (
  accessor text not null,
  attributes jsonb default '{}'::jsonb not null,
  cas_required boolean default false not null,
  created_at timestamp with time zone default now() not null,
  delete_after_seconds bigint default 0 not null,
  description text default ''::text not null,
  disabled_at timestamp with time zone,
  id uuid default gen_random_uuid() not null,
  max_versions integer default 0 not null,
  move_id uuid,
  moved_from text,
  namespace_id text not null,
  path text collate "C" not null,
  stands_in text generated always as (
CASE
    WHEN disabled_at IS NULL THEN namespace_id
    ELSE NULL::text
END) stored,
  constraint mounts_accessor_key UNIQUE (accessor),
  constraint mounts_move_id_key UNIQUE (move_id),
  constraint mounts_pkey PRIMARY KEY (id),
  constraint mounts_stand_in_namespaces FOREIGN KEY (stands_in) REFERENCES login.namespaces(id) NOT VALID
);

create table secrets.outbox (
  due_at timestamp with time zone default now() not null,
  id bigint generated as identity not null,
  secret_id uuid not null,
  to_match boolean default false not null,
  traceparent text,
  constraint outbox_pkey PRIMARY KEY (id)
);

create table secrets.schema_version (
  md5 text,
  name text,
  run_at timestamp with time zone,
  version bigint not null,
  constraint schema_version_pkey PRIMARY KEY (version)
);

create table secrets.seal_keys (
  fingerprint text not null,
  id text not null,
  used_at timestamp with time zone default now() not null,
  constraint seal_keys_pkey PRIMARY KEY (id)
);

create table secrets.seal_rotation (
  after_key text[],
  at_table text,
  checked bigint default 0 not null,
  encrypted bigint default 0 not null,
  finished_at timestamp with time zone,
  key_id text not null,
  locked bigint default 0 not null,
  only_one boolean default true not null,
  pass_started_at timestamp with time zone default now() not null,
  started_at timestamp with time zone default now() not null,
  unreadable bigint default 0 not null,
  constraint seal_rotation_only_one_check CHECK (only_one),
  constraint seal_rotation_pkey PRIMARY KEY (only_one)
);

create table secrets.secrets (
  cas_required boolean default false not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  current_version integer default 0 not null,
  custom_metadata jsonb,
  delete_after_seconds bigint default 0 not null,
  id uuid not null,
  max_versions integer default 0 not null,
  mount_id uuid not null,
  oldest_version integer default 0 not null,
  path text collate "C" not null,
  revision bigint default 1 not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  watched boolean default false not null,
  constraint secrets_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES secrets.mounts(id),
  constraint secrets_mount_id_path_key UNIQUE (mount_id, path),
  constraint secrets_pkey PRIMARY KEY (id)
);

create table secrets.versions (
  created_at timestamp with time zone not null,
  deletion_time timestamp with time zone,
  destroyed boolean default false not null,
  expires_at timestamp with time zone,
  id uuid not null,
  sealed bytea,
  secret_id uuid not null,
  version integer not null,
  constraint versions_check CHECK ((destroyed = (sealed IS NULL))),
  constraint versions_pkey PRIMARY KEY (secret_id, version),
  constraint versions_secret_id_fkey FOREIGN KEY (secret_id) REFERENCES secrets.secrets(id) ON DELETE CASCADE
);

create table secrets.watched_patterns (
  beginning text collate "C" not null,
  mount_id uuid not null,
  rule_id uuid not null,
  constraint watched_patterns_mount_id_fkey FOREIGN KEY (mount_id) REFERENCES secrets.mounts(id) ON DELETE CASCADE,
  constraint watched_patterns_pkey PRIMARY KEY (rule_id)
);

create table sync.associations (
  accessor text not null,
  awaited_names text[] default '{}'::text[] not null,
  by_hand boolean default true not null,
  created_at timestamp with time zone default now() not null,
  destination_id uuid not null,
  granularity text,
  id uuid default gen_random_uuid() not null,
  mount text not null,
  mount_id uuid not null,
  namespace_id text not null,
  naming jsonb,
  planned_revision bigint not null,
  removing boolean default false not null,
  secret_id uuid not null,
  secret_name text not null,
  source_gone_at timestamp with time zone,
  source_removals integer default 0 not null,
  template text,
  unnamed_keys json default '[]'::json not null,
  updated_at timestamp with time zone default now() not null,
  constraint associations_destination_id_accessor_secret_name_key UNIQUE (destination_id, accessor, secret_name),
  constraint associations_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint associations_pkey PRIMARY KEY (id)
);
alter table sync.associations enable row level security;

create table sync.awaited_values (
  destination_id uuid not null,
  id uuid not null,
  import_id uuid not null,
  line integer not null,
  sealed_request bytea not null,
  secret_id uuid not null,
  seen_revision bigint not null,
  constraint awaited_values_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint awaited_values_destination_id_secret_id_key UNIQUE (destination_id, secret_id),
  constraint awaited_values_pkey PRIMARY KEY (id)
);

create table sync.clock (
  id boolean default true not null,
  seen_at timestamp with time zone default now() not null,
  set_back_at timestamp with time zone,
  constraint clock_id_check CHECK (id),
  constraint clock_pkey PRIMARY KEY (id)
);

create table sync.codehost_apps (
  app_id bigint not null,
  created_at timestamp with time zone default now() not null,
  enterprise_url text default ''::text not null,
  fingerprint text not null,
  id uuid default gen_random_uuid() not null,
  name text not null,
  namespace_id text not null,
  reconnect_initiated_at timestamp with time zone,
  reconnect_position uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  sealed_private_key bytea not null,
  updated_at timestamp with time zone default now() not null,
  constraint codehost_apps_namespace_id_fkey FOREIGN KEY (namespace_id) REFERENCES login.namespaces(id),
  constraint codehost_apps_namespace_id_name_key UNIQUE (namespace_id, name),
  constraint codehost_apps_pkey PRIMARY KEY (id)
);
alter table sync.codehost_apps enable row level security;

create table sync.config (
  disabled boolean default false not null,
  id boolean default true not null,
  queue_capacity bigint default 1000000 not null,
  constraint config_id_check CHECK (id),
  constraint config_pkey PRIMARY KEY (id),
  constraint config_queue_capacity_check CHECK ((queue_capacity >= 0))
);

create table sync.deleted_destinations (
  deleted_at timestamp with time zone default now() not null,
  id uuid not null,
  constraint deleted_destinations_pkey PRIMARY KEY (id)
);

create table sync.destination_checks (
  destination_id uuid not null,
  destination_type text not null,
  ended_at timestamp with time zone,
  ends_at timestamp with time zone not null,
  external_name text not null,
  id uuid default gen_random_uuid() not null,
  next_removal_at timestamp with time zone,
  put_started_at timestamp with time zone,
  remote jsonb,
  removals integer default 0 not null,
  removed_at timestamp with time zone,
  requested_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  steps jsonb default '[]'::jsonb not null,
  constraint destination_checks_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint destination_checks_pkey PRIMARY KEY (id)
);
alter table sync.destination_checks enable row level security;

create table sync.destination_health (
  destination_id uuid not null,
  destination_type text not null,
  failures integer default 0 not null,
  paused_until timestamp with time zone,
  reason text,
  refusals integer default 0 not null,
  slow_until timestamp with time zone,
  threshold double precision default 64 not null,
  window_size double precision default 2 not null,
  constraint destination_health_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint destination_health_pkey PRIMARY KEY (destination_id),
  constraint destination_health_threshold_check CHECK ((threshold >= (1)::double precision)),
  constraint destination_health_window_size_check CHECK ((window_size >= (1)::double precision))
);
alter table sync.destination_health enable row level security;

create table sync.destinations (
  background_error text,
  codehost_app_id uuid,
  created_at timestamp with time zone default now() not null,
  deleted_at timestamp with time zone,
  given jsonb,
  id uuid default gen_random_uuid() not null,
  lane_id uuid not null,
  name text not null,
  namespace_id text,
  namespace_path text not null,
  place text generated always as (
CASE
    WHEN type = 'codehost'::text THEN lower(((((((("left"(COALESCE(settings ->> 'enterprise_url'::text, ''::text), 300) || chr(10)) || split_part(scope_id, '/'::text, 1)) || chr(10)) || COALESCE(settings ->> 'secrets_location'::text, 'repository'::text)) || chr(10)) || COALESCE(settings ->> 'secrets_app'::text, 'actions'::text)) || chr(10)) || COALESCE(settings ->> 'environment_name'::text, ''::text))
    ELSE NULL::text
END) stored,
  purge_ended_at timestamp with time zone,
  purge_error text,
  purge_initiated_at timestamp with time zone,
  purge_keeps boolean default false not null,
  purge_position uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  push_initiated_at timestamp with time zone,
  push_overwrites boolean default false not null,
  push_position text default ''::text not null,
  push_verifies boolean default false not null,
  replan_error text,
  replan_initiated_at timestamp with time zone,
  replan_leased_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  replan_position uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  replan_refused bigint default 0 not null,
  retry_all boolean default false not null,
  retry_initiated_at timestamp with time zone,
  revision bigint default 1 not null,
  scope_confirmed_at timestamp with time zone,
  scope_id text,
  scope_members jsonb,
  sealed_credentials bytea,
  settings jsonb not null,
  type text not null,
  updated_at timestamp with time zone default now() not null,
  constraint deleted_destinations_have_no_namespace CHECK (((deleted_at IS NULL) = (namespace_id IS NOT NULL))),
  constraint destinations_codehost_app_id_fkey FOREIGN KEY (codehost_app_id) REFERENCES sync.codehost_apps(id),
  constraint destinations_lane_id_fkey FOREIGN KEY (lane_id) REFERENCES sync.lanes(id),
  constraint destinations_namespace_id_type_name_key UNIQUE (namespace_id, type, name),
  constraint destinations_pkey PRIMARY KEY (id),
  constraint destinations_stand_in_namespaces FOREIGN KEY (namespace_id) REFERENCES login.namespaces(id) NOT VALID
);
alter table sync.destinations enable row level security;

create table sync.entries (
  announced_at timestamp with time zone,
  applied_generation bigint default 0 not null,
  association_id uuid not null,
  attempts integer default 0 not null,
  collision_key text not null,
  desired text default 'present'::text not null,
  destination_id uuid not null,
  destination_type text not null,
  drift text,
  drift_seen_at timestamp with time zone,
  due_at timestamp with time zone default now(),
  evidence text,
  external_name text not null,
  fault text,
  fence bigint default 0 not null,
  found_after bigint default 0 not null,
  generation bigint default 1 not null,
  id uuid default gen_random_uuid() not null,
  is_recoverable boolean default false not null,
  last_error text,
  lease_owner text,
  lease_until timestamp with time zone,
  look_error text,
  looked_at timestamp with time zone,
  next_attempt_at timestamp with time zone,
  outcomes integer default 0 not null,
  overwrite boolean default false not null,
  priority smallint default 0 not null,
  pushed_hash text,
  put_started_at timestamp with time zone,
  remote jsonb,
  removal_requested_at timestamp with time zone,
  repair_of text,
  repaired_at timestamp with time zone[],
  requested_at timestamp with time zone default now() not null,
  settings_hash text,
  status text default 'PENDING'::text not null,
  sub_key text default ''::text not null,
  synced_at timestamp with time zone,
  traceparent text,
  updated_at timestamp with time zone default now() not null,
  verified_at timestamp with time zone,
  verify boolean default false not null,
  waits_for uuid,
  constraint entries_association_id_fkey FOREIGN KEY (association_id) REFERENCES sync.associations(id) ON DELETE CASCADE,
  constraint entries_desired_check CHECK ((desired = ANY (ARRAY['present'::text, 'absent'::text]))),
  constraint entries_destination_id_collision_key_key UNIQUE (destination_id, collision_key),
  constraint entries_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint entries_pkey PRIMARY KEY (id)
);
alter table sync.entries enable row level security;

create table sync.entry_history (
  action text not null,
  at timestamp with time zone default now() not null,
  attempts integer not null,
  destination_type text not null,
  entry_id uuid not null,
  error text,
  fault text,
  number integer not null,
  repair_of text,
  since timestamp with time zone default now() not null,
  slot smallint not null,
  status text not null,
  constraint entry_history_action_check CHECK ((action = ANY (ARRAY['put'::text, 'remove'::text]))),
  constraint entry_history_pkey PRIMARY KEY (entry_id, slot, destination_type)
);
alter table sync.entry_history enable row level security;

create table sync.event_progress (
  counted_id bigint default 0 not null,
  counted_xid xid8 default '0'::xid8 not null,
  only_one boolean default true not null,
  swept_id bigint default 0 not null,
  swept_xid xid8 default '0'::xid8 not null,
  constraint event_progress_only_one_check CHECK (only_one),
  constraint event_progress_pkey PRIMARY KEY (only_one)
);

create table sync.events (
  association_id uuid,
  at timestamp with time zone default now() not null,
  attempts integer,
  destination_id uuid,
  destination_name text,
  destination_type text,
  drift text,
  error text,
  external_name text,
  fault text,
  id bigint generated as identity not null,
  kind text not null,
  lane_id uuid,
  mount text,
  namespace_id text,
  outcome text,
  paused_until timestamp with time zone,
  secret_name text,
  status text,
  sub_key text,
  work text,
  xid xid8 default pg_current_xact_id() not null,
  constraint events_outcome_check CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text]))),
  constraint events_pkey PRIMARY KEY (xid, id)
);

create table sync.import_lines (
  association text,
  external_name text not null,
  import_id uuid not null,
  is_written boolean not null,
  number integer not null,
  path text,
  reason text,
  result text not null,
  constraint import_lines_association_check CHECK ((association = ANY (ARRAY['requested'::text, 'awaited'::text, 'associated'::text, 'refused'::text]))),
  constraint import_lines_import_id_fkey FOREIGN KEY (import_id) REFERENCES sync.imports(id) ON DELETE CASCADE,
  constraint import_lines_pkey PRIMARY KEY (import_id, number)
);

create table sync.imports (
  attempts integer default 0 not null,
  counts jsonb default '{}'::jsonb not null,
  destination_id uuid not null,
  due_at timestamp with time zone default now() not null,
  ended_at timestamp with time zone,
  error text,
  fence uuid,
  id uuid not null,
  is_listed boolean default false not null,
  lines integer default 0 not null,
  requested_at timestamp with time zone default now() not null,
  sealed_request bytea not null,
  state text default 'running'::text not null,
  constraint imports_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint imports_id_key UNIQUE (id),
  constraint imports_pkey PRIMARY KEY (destination_id),
  constraint imports_state_check CHECK ((state = ANY (ARRAY['running'::text, 'done'::text, 'cancelled'::text, 'failed'::text])))
);

create table sync.inspections (
  destination_id uuid not null,
  destination_type text not null,
  due_at timestamp with time zone default now(),
  inspected_at timestamp with time zone,
  is_in_round boolean default false not null,
  last_seen bigint default 0 not null,
  page_end text,
  page_id uuid,
  page_seen integer default 0 not null,
  position text default ''::text not null,
  requested_at timestamp with time zone,
  round_started_at timestamp with time zone default now() not null,
  seen bigint default 0 not null,
  constraint inspections_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint inspections_pkey PRIMARY KEY (destination_id)
);

create table sync.installation (
  alive_at timestamp with time zone,
  confirmed_at timestamp with time zone,
  database_oid oid,
  held_because text,
  id boolean default true not null,
  name text,
  other_name text,
  place text,
  server_started_at timestamp with time zone,
  system_identifier bigint,
  table_oid oid,
  timeline text,
  constraint installation_id_check CHECK (id),
  constraint installation_pkey PRIMARY KEY (id)
);

create table sync.lanes (
  account text not null,
  destination_type text not null,
  failures integer default 0 not null,
  id uuid default gen_random_uuid() not null,
  paused_until timestamp with time zone,
  reason text,
  refilled_at timestamp with time zone default '-infinity'::timestamp with time zone not null,
  refusals integer default 0 not null,
  served_at timestamp with time zone default '-infinity'::timestamp with time zone not null,
  threshold double precision default 64 not null,
  tokens double precision default 0 not null,
  window_size double precision default 2 not null,
  constraint lanes_destination_type_account_key UNIQUE (destination_type, account),
  constraint lanes_pkey PRIMARY KEY (id),
  constraint lanes_threshold_check CHECK ((threshold >= (1)::double precision)),
  constraint lanes_window_size_check CHECK ((window_size >= (1)::double precision))
);
alter table sync.lanes enable row level security;

create table sync.outcome_minutes (
  destination_type text not null,
  failed bigint not null,
  minute timestamp with time zone not null,
  namespace_id text not null,
  succeeded bigint not null,
  constraint outcome_minutes_pkey PRIMARY KEY (namespace_id, destination_type, minute)
);

create table sync.reconciliation (
  id boolean default true not null,
  lease_owner uuid,
  leased_until timestamp with time zone default '-infinity'::timestamp with time zone not null,
  position uuid default '00000000-0000-0000-0000-000000000000'::uuid not null,
  running boolean default false not null,
  started_at timestamp with time zone default '-infinity'::timestamp with time zone not null,
  constraint reconciliation_id_check CHECK (id),
  constraint reconciliation_pkey PRIMARY KEY (id)
);

create table sync.removal_brakes (
  approved_at timestamp with time zone,
  destination_id uuid not null,
  entries bigint,
  held_at timestamp with time zone,
  is_counting boolean default false not null,
  removed bigint default 0 not null,
  window_started_at timestamp with time zone default now() not null,
  constraint removal_brakes_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint removal_brakes_pkey PRIMARY KEY (destination_id)
);

create table sync.repairs (
  decisions bigint default 0 not null,
  destination_id uuid not null,
  held_at timestamp with time zone,
  is_in_pass boolean default false not null,
  is_repairing boolean default false not null,
  is_wanted boolean default false not null,
  constraint repairs_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint repairs_pkey PRIMARY KEY (destination_id)
);

create table sync.rule_holds (
  association_id uuid not null,
  rule_id uuid not null,
  run_id uuid not null,
  constraint rule_holds_association_id_fkey FOREIGN KEY (association_id) REFERENCES sync.associations(id) ON DELETE CASCADE,
  constraint rule_holds_pkey PRIMARY KEY (rule_id, association_id),
  constraint rule_holds_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES sync.rules(id) ON DELETE CASCADE
);

create table sync.rule_refusals (
  attempts integer default 0 not null,
  due_at timestamp with time zone not null,
  id uuid default gen_random_uuid() not null,
  path text collate "C" not null,
  reason text not null,
  refused_at timestamp with time zone default now() not null,
  rule_id uuid not null,
  secret_id uuid not null,
  constraint rule_refusals_pkey PRIMARY KEY (id),
  constraint rule_refusals_rule_id_fkey FOREIGN KEY (rule_id) REFERENCES sync.rules(id) ON DELETE CASCADE,
  constraint rule_refusals_rule_id_secret_id_key UNIQUE (rule_id, secret_id)
);

create table sync.rules (
  attempts integer default 0 not null,
  beginning text collate "C" not null,
  created_at timestamp with time zone default now() not null,
  destination_id uuid not null,
  due_at timestamp with time zone default now() not null,
  error text,
  exclude text[] not null,
  fence uuid,
  id uuid not null,
  keeps boolean default false not null,
  last_run_at timestamp with time zone,
  matched integer,
  matched_so_far integer default 0 not null,
  metadata_match jsonb not null,
  mount text not null,
  mount_id uuid not null,
  name text collate "C" not null,
  naming jsonb default '{}'::jsonb not null,
  path text not null,
  phase text default 'matching'::text not null,
  position text collate "C" default ''::text not null,
  run_id uuid default gen_random_uuid() not null,
  sealed_owner bytea not null,
  updated_at timestamp with time zone default now() not null,
  version integer default 1 not null,
  xid xid8 default pg_current_xact_id() not null,
  constraint rules_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint rules_destination_id_name_key UNIQUE (destination_id, name),
  constraint rules_phase_check CHECK ((phase = ANY (ARRAY['matching'::text, 'releasing'::text, 'resting'::text, 'ending'::text]))),
  constraint rules_pkey PRIMARY KEY (id)
);

create table sync.scheduler_turns (
  destination_type text not null,
  turn bigint not null,
  constraint scheduler_turns_pkey PRIMARY KEY (destination_type)
);

create table sync.schema_version (
  md5 text,
  name text,
  run_at timestamp with time zone,
  version bigint not null,
  constraint schema_version_pkey PRIMARY KEY (version)
);

create table sync.seal_keys (
  fingerprint text not null,
  id text not null,
  used_at timestamp with time zone default now() not null,
  constraint seal_keys_pkey PRIMARY KEY (id)
);

create table sync.seal_rotation (
  after_key text[],
  at_table text,
  checked bigint default 0 not null,
  encrypted bigint default 0 not null,
  finished_at timestamp with time zone,
  key_id text not null,
  locked bigint default 0 not null,
  only_one boolean default true not null,
  pass_started_at timestamp with time zone default now() not null,
  started_at timestamp with time zone default now() not null,
  unreadable bigint default 0 not null,
  constraint seal_rotation_only_one_check CHECK (only_one),
  constraint seal_rotation_pkey PRIMARY KEY (only_one)
);

create table sync.store_reads (
  answer jsonb,
  destination_id uuid not null,
  destination_type text not null,
  ends_at timestamp with time zone not null,
  id uuid default gen_random_uuid() not null,
  question jsonb not null,
  requested_at timestamp with time zone default now() not null,
  started_at timestamp with time zone,
  constraint store_reads_destination_id_fkey FOREIGN KEY (destination_id) REFERENCES sync.destinations(id) ON DELETE CASCADE,
  constraint store_reads_pkey PRIMARY KEY (id)
);
alter table sync.store_reads enable row level security;

create table sync.workers (
  destination_type text not null,
  id text not null,
  seen_at timestamp with time zone default now() not null,
  slots integer not null,
  constraint workers_pkey PRIMARY KEY (id),
  constraint workers_slots_check CHECK ((slots > 0))
);
alter table sync.workers enable row level security;

create view secrets.newest_readable as
 SELECT s.id AS secret_id,
    v.version,
    v.id AS version_id,
    s.mount_id,
    s.path,
    v.sealed
   FROM ((secrets.secrets s
     JOIN secrets.mounts m ON (((m.id = s.mount_id) AND (m.disabled_at IS NULL))))
     CROSS JOIN LATERAL ( SELECT versions.version,
            versions.id,
            versions.sealed
           FROM secrets.versions
          WHERE ((versions.secret_id = s.id) AND (versions.version >= s.oldest_version) AND (NOT versions.destroyed) AND ((versions.deletion_time IS NULL) OR (versions.deletion_time > statement_timestamp())))
          ORDER BY versions.version DESC
         LIMIT 1) v);

create view sync.entry_values as
 SELECT e.id AS entry_id,
    a.secret_id,
    v.mount_id,
    v.path,
    v.version_id,
    v.sealed,
    (EXISTS ( SELECT
           FROM (secrets.secrets s
             JOIN secrets.mounts m ON (((m.id = s.mount_id) AND (m.disabled_at IS NULL))))
          WHERE (s.id = a.secret_id))) AS secret_exists,
    a.mount,
    a.secret_name,
    a.naming
   FROM ((sync.entries e
     JOIN sync.associations a ON ((a.id = e.association_id)))
     LEFT JOIN secrets.newest_readable v ON ((v.secret_id = a.secret_id)))
  WHERE sync.works_on(e.destination_type);

create view sync.held as
 SELECT id
   FROM sync.installation i
  WHERE ((other_name IS NOT NULL) OR (held_because IS NOT NULL) OR (server_started_at <> pg_postmaster_start_time()) OR (table_oid <> tableoid) OR (database_oid <> ( SELECT d.oid
           FROM pg_database d
          WHERE (d.datname = current_database()))));

create view sync.secret_revisions as
 SELECT s.id AS secret_id,
    s.revision
   FROM (secrets.secrets s
     JOIN secrets.mounts m ON (((m.id = s.mount_id) AND (m.disabled_at IS NULL))));

create view sync.secret_versions as
 SELECT s.id AS secret_id,
    s.revision,
    s.current_version,
    ( SELECT v.version
           FROM secrets.newest_readable v
          WHERE (v.secret_id = s.id)) AS readable_version
   FROM (secrets.secrets s
     JOIN secrets.mounts m ON (((m.id = s.mount_id) AND (m.disabled_at IS NULL))));

CREATE INDEX auth_mounts_in_order ON login.auth_mounts USING btree (namespace_id, path COLLATE "C");

CREATE INDEX cloudb_configs_by_application ON login.cloudb_configs USING btree (lower((settings ->> 'client_id'::text))) WHERE (sealed_client_secret IS NOT NULL);

CREATE INDEX cloudb_configs_by_row_key ON login.cloudb_configs USING btree (split_part(row_hash, ':'::text, 1), mount_id);

CREATE INDEX cloudb_roles_by_row_key ON login.cloudb_roles USING btree (split_part(row_hash, ':'::text, 1), mount_id, name);

CREATE INDEX cloudb_rotation_attempts_by_mount ON login.cloudb_rotation_attempts USING btree (mount_id);

CREATE INDEX cloudb_rotations_by_due ON login.cloudb_rotations USING btree (due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX entities_by_folded_name ON login.entities USING btree (namespace_id, lower((name COLLATE "default"))) WHERE (name IS NOT NULL);

CREATE UNIQUE INDEX entities_by_name ON login.entities USING btree (namespace_id, name) WHERE (name IS NOT NULL);

CREATE INDEX entities_by_namespace ON login.entities USING btree (namespace_id, id);

CREATE INDEX entity_aliases_by_entity ON login.entity_aliases USING btree (entity_id);

CREATE INDEX entity_aliases_in_other_case ON login.entity_aliases USING btree (mount_id, lower(name)) WHERE (name <> lower(name));

CREATE INDEX groups_by_folded_name ON login.groups USING btree (namespace_id, lower((name COLLATE "default")));

CREATE INDEX groups_by_namespace ON login.groups USING btree (namespace_id, id);

CREATE INDEX identity_keys_by_end ON login.identity_keys USING btree (published_until) WHERE (state = 'retired'::text);

CREATE UNIQUE INDEX identity_keys_by_state ON login.identity_keys USING btree (state) WHERE (state <> 'retired'::text);

CREATE INDEX jwt_configs_by_row_key ON login.jwt_configs USING btree (split_part(row_hash, ':'::text, 1), mount_id);

CREATE INDEX jwt_roles_by_row_key ON login.jwt_roles USING btree (split_part(row_hash, ':'::text, 1), mount_id, name);

CREATE INDEX kubernetes_configs_by_row_key ON login.kubernetes_configs USING btree (split_part(row_hash, ':'::text, 1), mount_id);

CREATE INDEX kubernetes_roles_by_row_key ON login.kubernetes_roles USING btree (split_part(row_hash, ':'::text, 1), mount_id, name);

CREATE INDEX namespaces_by_parent ON login.namespaces USING btree (regexp_replace(path, '/?[^/]*$'::text, ''::text), path COLLATE "C") WHERE (path <> ''::text);

CREATE INDEX policies_by_row_key ON login.policies USING btree (split_part(row_hash, ':'::text, 1), namespace_id, name);

CREATE INDEX policies_in_order ON login.policies USING btree (namespace_id, name COLLATE "C");

CREATE INDEX public_auth_mounts ON login.auth_mounts USING btree (namespace_id, path COLLATE "C") WHERE ((attributes ->> 'listing_visibility'::text) = 'unauth'::text);

CREATE INDEX rate_limit_usage_by_end ON login.rate_limit_usage USING btree (ends_at);

CREATE INDEX token_roles_by_row_key ON login.token_roles USING btree (split_part(row_hash, ':'::text, 1), namespace_id, name);

CREATE INDEX tokens_by_expiry ON login.tokens USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX tokens_by_mount ON login.tokens USING btree (mount_id) WHERE (mount_id IS NOT NULL);

CREATE INDEX tokens_by_namespace ON login.tokens USING btree (namespace_id, accessor COLLATE "C");

CREATE INDEX tokens_by_parent ON login.tokens USING btree (parent_accessor) WHERE (parent_accessor IS NOT NULL);

CREATE INDEX tokens_used_up ON login.tokens USING btree (hash) WHERE (uses_left = 0);

CREATE INDEX used_jwts_by_expiry ON login.used_jwts USING btree (expires_at);

CREATE INDEX wrapped_responses_by_expiry ON login.wrapped_responses USING btree (expires_at);

CREATE INDEX events_in_order ON secrets.events USING btree (xid, id);

CREATE UNIQUE INDEX mounts_by_path ON secrets.mounts USING btree (namespace_id, path) WHERE (disabled_at IS NULL);

CREATE INDEX mounts_of_namespace ON secrets.mounts USING btree (stands_in);

CREATE INDEX mounts_to_purge ON secrets.mounts USING btree (disabled_at) WHERE (disabled_at IS NOT NULL);

CREATE INDEX outbox_by_due ON secrets.outbox USING btree (due_at, id);

CREATE INDEX public_mounts ON secrets.mounts USING btree (namespace_id, path) WHERE (((attributes ->> 'listing_visibility'::text) = 'unauth'::text) AND (disabled_at IS NULL));

CREATE INDEX secrets_watched ON secrets.secrets USING btree (mount_id) WHERE watched;

CREATE INDEX versions_by_expiry ON secrets.versions USING btree (expires_at) WHERE (expires_at IS NOT NULL);

CREATE INDEX watched_patterns_by_beginning ON secrets.watched_patterns USING btree (mount_id, beginning);

CREATE INDEX associations_awaiting_names ON sync.associations USING btree (id) WHERE (awaited_names <> '{}'::text[]);

CREATE INDEX associations_by_destination_and_name ON sync.associations USING btree (destination_id, mount, secret_name);

CREATE INDEX associations_by_name ON sync.associations USING btree (namespace_id, mount, secret_name, destination_id);

CREATE INDEX associations_by_secret ON sync.associations USING btree (secret_id);

CREATE INDEX associations_in_use ON sync.associations USING btree (destination_id, id) WHERE (NOT removing);

CREATE INDEX associations_of_destination ON sync.associations USING btree (destination_id, id);

CREATE INDEX associations_of_mount ON sync.associations USING btree (mount_id);

CREATE INDEX associations_with_unnamed_keys ON sync.associations USING btree (destination_id, id) WHERE ((unnamed_keys)::text <> '[]'::text);

CREATE INDEX associations_without_source ON sync.associations USING btree (destination_id, source_gone_at, id) INCLUDE (source_removals) WHERE (source_gone_at IS NOT NULL);

CREATE INDEX codehost_apps_to_reconnect ON sync.codehost_apps USING btree (id) WHERE (reconnect_initiated_at IS NOT NULL);

CREATE INDEX deleted_destinations_by_time ON sync.deleted_destinations USING btree (deleted_at);

CREATE INDEX destination_checks_by_age ON sync.destination_checks USING btree (requested_at);

CREATE INDEX destination_checks_of_destination ON sync.destination_checks USING btree (destination_id);

CREATE UNIQUE INDEX destination_checks_running ON sync.destination_checks USING btree (destination_id) WHERE (ended_at IS NULL);

CREATE INDEX destination_checks_with_probe ON sync.destination_checks USING btree (COALESCE(next_removal_at, ends_at)) WHERE ((started_at IS NOT NULL) AND (removed_at IS NULL));

CREATE INDEX destination_checks_with_probe_of_destination ON sync.destination_checks USING btree (destination_id) WHERE ((started_at IS NOT NULL) AND (removed_at IS NULL));

CREATE INDEX destinations_by_lane ON sync.destinations USING btree (namespace_id, lane_id, type, name);

CREATE INDEX destinations_deleted ON sync.destinations USING btree (deleted_at) WHERE (deleted_at IS NOT NULL);

CREATE INDEX destinations_of_codehost_app ON sync.destinations USING btree (codehost_app_id, id) WHERE (codehost_app_id IS NOT NULL);

CREATE INDEX destinations_of_lane ON sync.destinations USING btree (lane_id);

CREATE INDEX destinations_of_place ON sync.destinations USING btree (place) WHERE (place IS NOT NULL);

CREATE INDEX destinations_of_small_scope ON sync.destinations USING btree (scope_id) WHERE (type = ANY (ARRAY['codehost'::text, 'webhost-project'::text]));

CREATE INDEX destinations_paused ON sync.destination_health USING btree (destination_type) WHERE (failures > 0);

CREATE INDEX destinations_with_work ON sync.destinations USING btree (id) WHERE ((deleted_at IS NOT NULL) OR (purge_initiated_at IS NOT NULL) OR (retry_initiated_at IS NOT NULL) OR (push_initiated_at IS NOT NULL) OR (replan_initiated_at IS NOT NULL));

CREATE INDEX entries_announced ON sync.entries USING btree (destination_type, announced_at) WHERE (announced_at IS NOT NULL);

CREATE INDEX entries_by_drift ON sync.entries USING btree (destination_id, drift, association_id, sub_key) WHERE (drift <> 'none'::text);

CREATE INDEX entries_by_status ON sync.entries USING btree (destination_id, status, association_id, sub_key) WHERE ((status <> 'PENDING'::text) OR ((announced_at IS NULL) AND (lease_until IS NULL)));

CREATE INDEX entries_drifted ON sync.entries USING btree (destination_id, drift, found_after) WHERE ((status = 'CLIENT_SIDE_ERROR'::text) AND (fault IS NULL) AND (drift <> 'none'::text));

CREATE INDEX entries_due_of_type ON sync.entries USING btree (destination_type, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX entries_failed ON sync.entries USING btree (destination_id, updated_at) WHERE (status = 'CLIENT_SIDE_ERROR'::text);

CREATE INDEX entries_of_association ON sync.entries USING btree (association_id, sub_key);

CREATE INDEX entries_outstanding ON sync.entries USING btree (destination_id) INCLUDE (announced_at, due_at, lease_until) WHERE ((announced_at IS NOT NULL) OR (lease_until IS NOT NULL));

CREATE INDEX entries_parked ON sync.entries USING btree (id) WHERE ((waits_for IS NOT NULL) AND (due_at IS NULL) AND (announced_at IS NULL) AND (applied_generation < generation));

CREATE INDEX entries_postponed ON sync.entries USING btree (destination_id, updated_at) WHERE (status = ANY (ARRAY['EXTERNAL_SERVICE_ERROR'::text, 'INTERNAL_SERVICE_ERROR'::text]));

CREATE INDEX entries_refused ON sync.entries USING btree (destination_id, updated_at) WHERE ((status = 'CLIENT_SIDE_ERROR'::text) AND ((fault IS NOT NULL) OR (drift IS NULL) OR (drift = 'none'::text)));

CREATE INDEX entries_removal_failed ON sync.entries USING btree (destination_id) WHERE ((desired = 'absent'::text) AND (status = 'CLIENT_SIDE_ERROR'::text));

CREATE INDEX entries_stuck ON sync.entries USING btree (updated_at) WHERE ((due_at IS NULL) AND (announced_at IS NULL) AND (lease_until IS NULL) AND (status = ANY (ARRAY['PENDING'::text, 'EXTERNAL_SERVICE_ERROR'::text, 'INTERNAL_SERVICE_ERROR'::text])) AND ((waits_for IS NULL) OR (applied_generation >= generation)));

CREATE INDEX entries_waiting ON sync.entries USING btree (destination_id, priority, due_at) WHERE (due_at IS NOT NULL);

CREATE INDEX entries_waiting_for ON sync.entries USING btree (waits_for) WHERE (waits_for IS NOT NULL);

CREATE INDEX entries_without_room ON sync.entries USING btree (destination_id, updated_at) WHERE (fault = 'full'::text);

CREATE INDEX import_lines_by_path ON sync.import_lines USING btree (import_id, path) WHERE (path IS NOT NULL);

CREATE INDEX import_lines_to_associate ON sync.import_lines USING btree (import_id, number) WHERE (association = 'requested'::text);

CREATE INDEX imports_due ON sync.imports USING btree (due_at) WHERE (state = 'running'::text);

CREATE INDEX imports_in_progress ON sync.imports USING btree (destination_id) WHERE (fence IS NOT NULL);

CREATE INDEX inspections_due ON sync.inspections USING btree (destination_type, due_at);

CREATE INDEX inspections_sent ON sync.inspections USING btree (destination_type, due_at) WHERE (page_id IS NOT NULL);

CREATE INDEX lanes_paused ON sync.lanes USING btree (destination_type) WHERE (failures > 0);

CREATE INDEX outcome_minutes_by_age ON sync.outcome_minutes USING btree (minute);

CREATE INDEX removal_brakes_approved ON sync.removal_brakes USING btree (approved_at) WHERE (approved_at IS NOT NULL);

CREATE INDEX removal_brakes_held ON sync.removal_brakes USING btree (held_at) WHERE (held_at IS NOT NULL);

CREATE INDEX repairs_held ON sync.repairs USING btree (destination_id) WHERE (held_at IS NOT NULL);

CREATE INDEX repairs_open ON sync.repairs USING btree (destination_id) WHERE (is_wanted OR is_repairing OR (held_at IS NOT NULL));

CREATE INDEX rule_holds_of_association ON sync.rule_holds USING btree (association_id);

CREATE INDEX rule_refusals_due ON sync.rule_refusals USING btree (due_at);

CREATE INDEX rule_refusals_of_secret ON sync.rule_refusals USING btree (secret_id);

CREATE INDEX rules_by_beginning ON sync.rules USING btree (mount_id, beginning);

CREATE INDEX rules_by_run ON sync.rules USING btree (COALESCE(last_run_at, created_at)) WHERE ((error IS NULL) AND (phase <> 'ending'::text));

CREATE INDEX rules_due ON sync.rules USING btree (due_at);

CREATE INDEX rules_in_progress ON sync.rules USING btree (id) WHERE (fence IS NOT NULL);

CREATE INDEX rules_with_error ON sync.rules USING btree (id) WHERE (error IS NOT NULL);

CREATE INDEX store_reads_by_age ON sync.store_reads USING btree (requested_at);

CREATE INDEX store_reads_of_destination ON sync.store_reads USING btree (destination_id);

CREATE OR REPLACE FUNCTION login.fold_alias()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  new.given_name := nullif(new.name, lower(new.name));
  new.name := lower(new.name);
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION login.forget_row_hash()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  new.row_hash := null;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION login.free_wrapped_space()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  perform from login.wrapped_space where namespace_id in (select namespace_id from gone) order by namespace_id for update;
  update login.wrapped_space s set bytes = s.bytes - g.bytes
    from (select namespace_id, sum(bytes) as bytes from gone where bytes is not null group by namespace_id) g
    where s.namespace_id = g.namespace_id;
  delete from login.wrapped_space where bytes = 0 and namespace_id in (select namespace_id from gone);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION login.identify_change()
 RETURNS trigger
 LANGUAGE plpgsql
 SET search_path TO ''
AS $function$
begin
  new.change_id := gen_random_uuid();
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION login.random_revision()
 RETURNS bigint
 LANGUAGE sql
RETURN ((('x'::text || "right"(replace((gen_random_uuid())::text, '-'::text, ''::text), 13)))::bit(52))::bigint
;

CREATE OR REPLACE FUNCTION login.record_removed_owner()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into login.removed_owners (id, kind) values (old.id::text, tg_argv[0]);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION login.renew_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.revision := login.random_revision();
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION secrets.refuse_name_of_mount()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  name text := regexp_replace(new.path, '^.*/', '');
  parent text := (select id from login.namespaces where path = left(new.path, -length(name) - 1));
begin
  perform pg_advisory_xact_lock(hashtextextended('names in namespace ' || parent, 0));
  if exists (
    select from secrets.mounts
    where namespace_id = parent and disabled_at is null and (path = name or path >= name || '/' and path < name || '0')
  ) then
    raise unique_violation using constraint = 'names_of_mounts_and_namespaces', message = 'a mount has this name';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION secrets.refuse_name_of_namespace()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  parent text := (select path from login.namespaces where id = new.namespace_id);
  name text := split_part(new.path, '/', 1);
begin
  perform pg_advisory_xact_lock(hashtextextended('names in namespace ' || new.namespace_id, 0));
  if exists (select from login.namespaces where path = case parent when '' then name else parent || '/' || name end) then
    raise unique_violation using constraint = 'names_of_mounts_and_namespaces', message = 'a namespace has this name';
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION sync.database_identity(OUT system_identifier bigint, OUT database_oid oid, OUT table_oid oid, OUT timeline text)
 RETURNS record
 LANGUAGE plpgsql
 STABLE
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  select d.oid into database_oid from pg_database d where d.datname = current_database();
  select c.oid into table_oid from pg_class c where c.relname = 'installation' and c.relnamespace = 'sync'::regnamespace;
  begin
    select s.system_identifier into system_identifier from pg_control_system() s;
  exception when others then null;
  end;
  begin
    -- Not pg_control_checkpoint: it has the earlier timeline until the first checkpoint after a promotion.
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  exception when others then null;
  end;
end $function$
;

CREATE OR REPLACE FUNCTION sync.external_secrets_of(of_mount uuid, at_most integer)
 RETURNS bigint
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO ''
AS $function$
  select count(*) from (
    select from (select id from sync.associations where mount_id = of_mount limit at_most) as a
      cross join lateral (select from sync.entries where association_id = a.id and desired = 'present' limit at_most) as e
     limit at_most) as counted
$function$
;

CREATE OR REPLACE FUNCTION sync.follow_moved_mount()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
begin
  update sync.associations set mount = new.path where mount_id = new.id;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.forget_history()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  delete from sync.entry_history where entry_id = any(array(select id from gone));
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.keep_in_purge()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.removal_requested_at := clock_timestamp();
  if new.waits_for is null and exists (
    select from sync.destinations where id = new.destination_id and purge_initiated_at is not null and purge_keeps
  ) then
    new.waits_for := new.id;
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION sync.keep_inspection()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.inspections as i (destination_id, destination_type) values (new.id, new.type)
  on conflict (destination_id) do update set due_at = now() where i.page_id is null;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.keep_repairs()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.repairs (destination_id) values (new.id)
  on conflict (destination_id) do update set is_wanted = true;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.move_rules()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET enable_seqscan TO 'off'
AS $function$
begin
  update sync.rules set mount = new.path where mount_id = new.id;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.own_lane()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  if new.lane_id is null then
    insert into sync.lanes (destination_type, account) values (new.type, 'destination:' || new.id)
      on conflict (destination_type, account) do update set account = excluded.account
      returning id into new.lane_id;
  end if;
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION sync.random_revision()
 RETURNS bigint
 LANGUAGE sql
RETURN ((('x'::text || "right"(replace((gen_random_uuid())::text, '-'::text, ''::text), 13)))::bit(52))::bigint
;

CREATE OR REPLACE FUNCTION sync.record_association()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, namespace_id, destination_id, association_id, mount, secret_name)
  values (case when new.removing and not old.removing then 'association_removing'
               when old.removing and not new.removing then 'association_set' else 'association_updated' end,
          new.namespace_id, new.destination_id, new.id, new.mount, new.secret_name);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_associations()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, namespace_id, destination_id, destination_type, destination_name, association_id, mount, secret_name)
  select case tg_op when 'INSERT' then 'association_set' else 'association_removed' end,
         a.namespace_id, a.destination_id, d.type, d.name, a.id, a.mount, a.secret_name
    from changed a join sync.destinations d on d.id = a.destination_id where d.deleted_at is null;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_destination()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  was sync.destinations := case tg_op when 'INSERT' then new else old end;
  row sync.destinations := case tg_op when 'DELETE' then old else new end;
begin
  insert into sync.events (kind, namespace_id, destination_id, destination_type, destination_name, work)
  select kind, was.namespace_id, row.id, row.type, row.name, work
    from (values
      ('destination_created', null, tg_op = 'INSERT'),
      ('destination_deleted', null, tg_op = 'DELETE' or (was.deleted_at is null and row.deleted_at is not null)),
      ('destination_updated', null, was.revision <> row.revision),
      (case when row.purge_initiated_at is null then 'work_finished' else 'work_started' end, 'purge',
       (was.purge_initiated_at is null) <> (row.purge_initiated_at is null)),
      (case when row.retry_initiated_at is null then 'work_finished' else 'work_started' end, 'retry',
       (was.retry_initiated_at is null) <> (row.retry_initiated_at is null)),
      (case when row.push_initiated_at is null then 'work_finished' else 'work_started' end, 'push',
       (was.push_initiated_at is null) <> (row.push_initiated_at is null)),
      (case when row.replan_initiated_at is null then 'work_finished' else 'work_started' end, 'replan',
       (was.replan_initiated_at is null) <> (row.replan_initiated_at is null))
    ) as happened (kind, work, is_so) where is_so;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_drift()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, drift)
  values ('drift_found', new.destination_id, new.association_id, new.sub_key, new.external_name, new.drift);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_entry()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, status, fault, error, attempts, outcome)
  values ('entry', new.destination_id, new.association_id, new.sub_key, new.external_name, new.status, new.fault, new.last_error, new.attempts,
          case when new.synced_at is distinct from old.synced_at then 'succeeded'
               when old.lease_owner is not null and new.lease_owner is null then 'failed' end);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_held_removals()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id)
  values (case when new.held_at is null then 'removals_released' else 'removals_held' end, new.destination_id);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_held_repairs()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id)
  values (case when new.held_at is null then 'repairs_released' else 'repairs_held' end, new.destination_id);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_hold()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind)
  values (case when new.other_name is null and new.held_because is null then 'sync_released' else 'sync_held' end);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_inspection()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, namespace_id, destination_id, destination_type, destination_name, work)
  select case when new.requested_at is null then 'work_finished' else 'work_started' end, d.namespace_id, d.id, d.type, d.name, 'inspect'
    from sync.destinations d where d.id = new.destination_id and d.deleted_at is null;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_new_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, status, attempts)
  select 'entry', destination_id, association_id, sub_key, external_name, status, 0 from added;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_pause()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, fault, paused_until)
  values (case when new.failures = 0 then 'destination_reopened' else 'destination_paused' end, new.destination_id,
          case when new.failures > 0 then new.reason end, case when new.failures > 0 then new.paused_until end);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_pause_of_lane()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, lane_id, destination_type, fault, paused_until)
  values (case when new.failures = 0 then 'lane_reopened' else 'lane_paused' end, new.id, new.destination_type,
          case when new.failures > 0 then new.reason end, case when new.failures > 0 then new.paused_until end);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_refusal()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, work, mount, secret_name)
  select 'rule_refused', r.destination_id, r.name, r.mount, new.path from sync.rules r where r.id = new.rule_id;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_removed_entries()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, status, attempts, outcome)
  select 'entry', destination_id, association_id, sub_key, external_name, 'UNSYNCED', 0, 'succeeded' from gone where lease_owner is not null;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_repair()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, association_id, sub_key, external_name, drift)
  values ('drift_repaired', new.destination_id, new.association_id, new.sub_key, new.external_name, old.repair_of);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_rule()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind, destination_id, work)
  values (case when tg_op = 'INSERT' then 'rule_created' when new.phase = 'ending' then 'rule_deleted' else 'rule_updated' end,
          new.destination_id, new.name);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.record_switch()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  insert into sync.events (kind) values (case when new.disabled then 'sync_disabled' else 'sync_enabled' end);
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.remember_deleted_destination()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  insert into sync.deleted_destinations (id) values (old.id) on conflict do nothing;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.renew_revision()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
begin
  new.revision := sync.random_revision();
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION sync.want_repair()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
declare
  decided bigint;
begin
  update sync.repairs set is_wanted = true where destination_id = new.destination_id returning decisions into decided;
  new.found_after = coalesce(decided, 0);
  return new;
end $function$
;

CREATE OR REPLACE FUNCTION sync.watch_pattern()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
AS $function$
begin
  if tg_op = 'DELETE' or new.phase = 'ending' then
    delete from secrets.watched_patterns where rule_id = case when tg_op = 'DELETE' then old.id else new.id end;
  else
    insert into secrets.watched_patterns (rule_id, mount_id, beginning) values (new.id, new.mount_id, new.beginning)
    on conflict (rule_id) do update set mount_id = excluded.mount_id, beginning = excluded.beginning;
  end if;
  return null;
end $function$
;

CREATE OR REPLACE FUNCTION sync.works_on(destination_type text)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
RETURN ((CURRENT_USER !~~ 'sync\_worker\_%'::text) OR (CURRENT_USER = ('sync_worker_'::text || lower(replace(destination_type, '-'::text, '_'::text)))))
;

CREATE TRIGGER identify_change BEFORE UPDATE ON login.access_epoch FOR EACH ROW EXECUTE FUNCTION login.identify_change();

CREATE TRIGGER removed_owner AFTER DELETE ON login.auth_mounts FOR EACH ROW EXECUTE FUNCTION login.record_removed_owner('auth mount');

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.cloudb_configs FOR EACH ROW WHEN (((new.settings IS DISTINCT FROM old.settings) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER renew_revision BEFORE UPDATE OF settings, updated_at ON login.cloudb_configs FOR EACH ROW EXECUTE FUNCTION login.renew_revision();

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.cloudb_roles FOR EACH ROW WHEN (((new.settings IS DISTINCT FROM old.settings) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER fold_alias BEFORE INSERT OR UPDATE OF name ON login.entity_aliases FOR EACH ROW EXECUTE FUNCTION login.fold_alias();

CREATE TRIGGER fold_alias BEFORE INSERT OR UPDATE OF name ON login.group_aliases FOR EACH ROW EXECUTE FUNCTION login.fold_alias();

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.jwt_configs FOR EACH ROW WHEN (((new.settings IS DISTINCT FROM old.settings) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.jwt_roles FOR EACH ROW WHEN (((new.settings IS DISTINCT FROM old.settings) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.kubernetes_configs FOR EACH ROW WHEN (((new.settings IS DISTINCT FROM old.settings) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.kubernetes_roles FOR EACH ROW WHEN (((new.settings IS DISTINCT FROM old.settings) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER refuse_name_of_mount BEFORE INSERT OR UPDATE OF path ON login.namespaces FOR EACH ROW EXECUTE FUNCTION secrets.refuse_name_of_mount();

CREATE TRIGGER removed_owner AFTER DELETE ON login.namespaces FOR EACH ROW EXECUTE FUNCTION login.record_removed_owner('namespace');

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.policies FOR EACH ROW WHEN (((new.rules IS DISTINCT FROM old.rules) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER forget_row_hash BEFORE UPDATE ON login.token_roles FOR EACH ROW WHEN (((new.settings IS DISTINCT FROM old.settings) AND (NOT (new.row_hash IS DISTINCT FROM old.row_hash)))) EXECUTE FUNCTION login.forget_row_hash();

CREATE TRIGGER free_wrapped_space AFTER DELETE ON login.wrapped_responses REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION login.free_wrapped_space();

CREATE TRIGGER moved_mount AFTER UPDATE OF path ON secrets.mounts FOR EACH ROW WHEN ((old.path <> new.path)) EXECUTE FUNCTION sync.follow_moved_mount();

CREATE TRIGGER moved_mount_of_rules AFTER UPDATE OF path ON secrets.mounts FOR EACH ROW WHEN ((old.path <> new.path)) EXECUTE FUNCTION sync.move_rules();

CREATE TRIGGER refuse_name_of_namespace BEFORE INSERT OR UPDATE OF namespace_id, path ON secrets.mounts FOR EACH ROW EXECUTE FUNCTION secrets.refuse_name_of_namespace();

CREATE TRIGGER record_association AFTER UPDATE OF removing, mount, unnamed_keys ON sync.associations FOR EACH ROW WHEN (((old.removing <> new.removing) OR (old.mount <> new.mount) OR ((old.unnamed_keys)::text <> (new.unnamed_keys)::text))) EXECUTE FUNCTION sync.record_association();

CREATE TRIGGER record_new_associations AFTER INSERT ON sync.associations REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sync.record_associations();

CREATE TRIGGER record_removed_associations AFTER DELETE ON sync.associations REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sync.record_associations();

CREATE TRIGGER record_switch AFTER UPDATE OF disabled ON sync.config FOR EACH ROW WHEN ((old.disabled <> new.disabled)) EXECUTE FUNCTION sync.record_switch();

CREATE TRIGGER record_first_pause AFTER INSERT ON sync.destination_health FOR EACH ROW WHEN (((new.failures > 0) AND (new.paused_until > now()))) EXECUTE FUNCTION sync.record_pause();

CREATE TRIGGER record_pause AFTER UPDATE OF paused_until, failures ON sync.destination_health FOR EACH ROW WHEN ((((new.failures > 0) AND (new.paused_until > now()) AND (old.paused_until IS DISTINCT FROM new.paused_until)) OR ((old.failures > 0) AND (new.failures = 0)))) EXECUTE FUNCTION sync.record_pause();

CREATE TRIGGER ask_for_repairs AFTER UPDATE OF settings ON sync.destinations FOR EACH ROW WHEN (((old.settings ->> 'drift_policy'::text) IS DISTINCT FROM (new.settings ->> 'drift_policy'::text))) EXECUTE FUNCTION sync.keep_repairs();

CREATE TRIGGER change_inspection AFTER UPDATE OF settings ON sync.destinations FOR EACH ROW WHEN ((old.settings IS DISTINCT FROM new.settings)) EXECUTE FUNCTION sync.keep_inspection();

CREATE TRIGGER own_lane BEFORE INSERT OR UPDATE OF lane_id ON sync.destinations FOR EACH ROW EXECUTE FUNCTION sync.own_lane();

CREATE TRIGGER record_destination AFTER UPDATE ON sync.destinations FOR EACH ROW WHEN (((old.deleted_at IS NULL) AND ((new.deleted_at IS NOT NULL) OR (old.revision <> new.revision) OR ((old.purge_initiated_at IS NULL) <> (new.purge_initiated_at IS NULL)) OR ((old.retry_initiated_at IS NULL) <> (new.retry_initiated_at IS NULL)) OR ((old.push_initiated_at IS NULL) <> (new.push_initiated_at IS NULL)) OR ((old.replan_initiated_at IS NULL) <> (new.replan_initiated_at IS NULL))))) EXECUTE FUNCTION sync.record_destination();

CREATE TRIGGER record_new_destination AFTER INSERT ON sync.destinations FOR EACH ROW EXECUTE FUNCTION sync.record_destination();

CREATE TRIGGER record_removed_destination AFTER DELETE ON sync.destinations FOR EACH ROW WHEN ((old.deleted_at IS NULL)) EXECUTE FUNCTION sync.record_destination();

CREATE TRIGGER remember_deleted_destination AFTER DELETE ON sync.destinations FOR EACH ROW EXECUTE FUNCTION sync.remember_deleted_destination();

CREATE TRIGGER renew_revision BEFORE UPDATE OF revision ON sync.destinations FOR EACH ROW WHEN ((old.revision <> new.revision)) EXECUTE FUNCTION sync.renew_revision();

CREATE TRIGGER start_inspection AFTER INSERT ON sync.destinations FOR EACH ROW EXECUTE FUNCTION sync.keep_inspection();

CREATE TRIGGER start_repairs AFTER INSERT ON sync.destinations FOR EACH ROW EXECUTE FUNCTION sync.keep_repairs();

CREATE TRIGGER forget_history AFTER DELETE ON sync.entries REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION sync.forget_history();

CREATE TRIGGER keep_in_purge BEFORE UPDATE OF desired ON sync.entries FOR EACH ROW WHEN ((new.desired = 'absent'::text)) EXECUTE FUNCTION sync.keep_in_purge();

CREATE TRIGGER record_drift AFTER UPDATE OF drift ON sync.entries FOR EACH ROW WHEN (((new.drift <> 'none'::text) AND (old.drift IS DISTINCT FROM new.drift))) EXECUTE FUNCTION sync.record_drift();

CREATE TRIGGER record_entry AFTER UPDATE OF status ON sync.entries FOR EACH ROW WHEN (((old.status <> new.status) OR (old.synced_at IS DISTINCT FROM new.synced_at) OR ((old.lease_owner IS NOT NULL) AND (new.lease_owner IS NULL)))) EXECUTE FUNCTION sync.record_entry();

CREATE TRIGGER record_new_entries AFTER INSERT ON sync.entries REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sync.record_new_entries();

CREATE TRIGGER record_removed_entries AFTER DELETE ON sync.entries REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION sync.record_removed_entries();

CREATE TRIGGER record_repair AFTER UPDATE OF drift ON sync.entries FOR EACH ROW WHEN (((old.repair_of IS NOT NULL) AND (old.drift <> 'none'::text) AND (new.drift = 'none'::text) AND (old.synced_at IS DISTINCT FROM new.synced_at))) EXECUTE FUNCTION sync.record_repair();

CREATE TRIGGER want_repair BEFORE UPDATE OF drift ON sync.entries FOR EACH ROW WHEN (((new.status = 'CLIENT_SIDE_ERROR'::text) AND (new.drift = ANY (ARRAY['changed'::text, 'missing'::text, 'foreign'::text])) AND ((old.drift IS DISTINCT FROM new.drift) OR (old.status <> new.status)))) EXECUTE FUNCTION sync.want_repair();

CREATE TRIGGER record_inspection AFTER UPDATE OF requested_at ON sync.inspections FOR EACH ROW WHEN (((old.requested_at IS NULL) <> (new.requested_at IS NULL))) EXECUTE FUNCTION sync.record_inspection();

CREATE TRIGGER record_hold AFTER UPDATE OF other_name, held_because ON sync.installation FOR EACH ROW WHEN ((((old.other_name IS NULL) AND (old.held_because IS NULL)) <> ((new.other_name IS NULL) AND (new.held_because IS NULL)))) EXECUTE FUNCTION sync.record_hold();

CREATE TRIGGER record_pause AFTER UPDATE OF paused_until, failures ON sync.lanes FOR EACH ROW WHEN ((((new.failures > 0) AND (new.paused_until > now()) AND (old.paused_until IS DISTINCT FROM new.paused_until)) OR ((old.failures > 0) AND (new.failures = 0)))) EXECUTE FUNCTION sync.record_pause_of_lane();

CREATE TRIGGER record_held_removals AFTER UPDATE OF held_at ON sync.removal_brakes FOR EACH ROW WHEN (((old.held_at IS NULL) <> (new.held_at IS NULL))) EXECUTE FUNCTION sync.record_held_removals();

CREATE TRIGGER record_held_repairs AFTER UPDATE OF held_at ON sync.repairs FOR EACH ROW WHEN (((old.held_at IS NULL) <> (new.held_at IS NULL))) EXECUTE FUNCTION sync.record_held_repairs();

CREATE TRIGGER record_refusal AFTER INSERT ON sync.rule_refusals FOR EACH ROW EXECUTE FUNCTION sync.record_refusal();

CREATE TRIGGER record_rule AFTER INSERT OR UPDATE OF version ON sync.rules FOR EACH ROW EXECUTE FUNCTION sync.record_rule();

CREATE TRIGGER watch_pattern AFTER INSERT OR DELETE OR UPDATE OF version ON sync.rules FOR EACH ROW EXECUTE FUNCTION sync.watch_pattern();

create policy of_own_type on sync.associations for ALL to {public} using (((CURRENT_USER !~~ 'sync\_worker\_%'::text) OR (EXISTS ( SELECT
   FROM sync.destinations d
  WHERE (d.id = associations.destination_id))))) with check ();

create policy wanted_gone on sync.associations for DELETE to {public} using (((CURRENT_USER !~~ 'sync\_worker\_%'::text) OR removing)) with check ();

create policy of_own_type on sync.codehost_apps for ALL to {public} using (sync.works_on('codehost'::text)) with check ();

create policy of_own_type on sync.destination_checks for ALL to {public} using (sync.works_on(destination_type)) with check ();

create policy of_own_type on sync.destination_health for ALL to {public} using (sync.works_on(destination_type)) with check ();

create policy of_own_type on sync.destinations for ALL to {public} using (sync.works_on(type)) with check ();

create policy of_own_type on sync.entries for ALL to {public} using (sync.works_on(destination_type)) with check ();

create policy wanted_gone on sync.entries for DELETE to {public} using (((CURRENT_USER !~~ 'sync\_worker\_%'::text) OR (desired = 'absent'::text))) with check ();

create policy of_own_type on sync.entry_history for ALL to {public} using (sync.works_on(destination_type)) with check ();

create policy of_own_type on sync.lanes for ALL to {public} using (sync.works_on(destination_type)) with check ();

create policy of_own_type on sync.store_reads for ALL to {public} using (sync.works_on(destination_type)) with check ();

create policy of_own_type on sync.workers for ALL to {public} using (sync.works_on(destination_type)) with check ();
