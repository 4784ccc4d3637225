-- A database in which everything that could make a statement slow is large. Runs as a script without foreign keys.

-- The figures of comments are those of a long run: otherwise `pg_temp.scaled` divides the numbers of secrets, entries and events.

-- secrets: 150,000 in one mount, of which every hundredth has 10 versions, and 50,000 in a mount that is being purged.
insert into secrets.mounts (id, namespace_id, path, accessor)
  values (md5('mount')::uuid, 'root', 'kv', 'kv_1');
insert into secrets.mounts (id, namespace_id, path, accessor, disabled_at)
  values (md5('old mount')::uuid, 'root', 'old', 'kv_2', now());
insert into secrets.mounts (namespace_id, path, accessor, disabled_at)
  select 'root', 'team' || n || '/kv', 'kv_team' || n, case when n % 2 = 0 then now() - interval '1 day' end
    from generate_series(1, 5000) as n;
insert into secrets.secrets (id, mount_id, path, current_version, oldest_version, revision, watched)
  select md5('secret' || n)::uuid, md5(case when n <= pg_temp.scaled(150000) then 'mount' else 'old mount' end)::uuid,
         'team' || n % 100 || '/app' || n, case when n % 100 = 0 then 10 else 1 end, 1, 3, n % 3 > 0
    from generate_series(1, pg_temp.scaled(200000)) as n;
insert into secrets.versions (secret_id, version, id, sealed, created_at, deletion_time, expires_at)
  select id, v, gen_random_uuid(), '\xfe', now() - interval '1 day', case when is_expired then now() end, case when is_expired then now() end
    from secrets.secrets, generate_series(1, current_version) as v, lateral (select v = 1 and hashtext(path) % 2 = 0 as is_expired) as e;
insert into secrets.outbox (secret_id, due_at)
  select md5('secret' || n)::uuid, now() + (n % 1000 - 990) * interval '1 second' from generate_series(1, pg_temp.scaled(200000)) as n;

-- destinations: 5 large ones, each with one kind of work, and 995 with 404 entries of every kind.
insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings)
  select md5('destination' || n)::uuid, 'root', '', 'cloudA-sm', 'd' || n, '{}' from generate_series(1, 1000) as n;
update sync.destinations set purge_initiated_at = now() where name = 'd2';
update sync.destinations set retry_initiated_at = now() where name = 'd3';
update sync.destinations set deleted_at = now(), namespace_id = null where name = 'd4';
insert into sync.removal_brakes (destination_id, held_at, approved_at)
  select id, now(), now() - interval '1 hour' from sync.destinations where name in ('d5', 'd6', 'd7');
update sync.destinations set lane_id = (select lane_id from sync.destinations where name = 'd901') where name ~ '^d(9\d\d|1000)$';
update sync.lanes set window_size = 64;
insert into sync.destination_health (destination_id, destination_type, window_size, failures, paused_until)
  select id, type, 64, (n % 20 = 0)::int, case when n % 20 = 0 then now() + interval '1 hour' end
    from sync.destinations cross join lateral (select substr(name, 2)::int as n) as numbered;
insert into sync.workers (id, destination_type, slots) select 'w' || n, 'cloudA-sm', 50 from generate_series(1, 10) as n;

-- applications: 1,000, and one that 500 of the destinations use
insert into sync.codehost_apps (id, namespace_id, name, app_id, fingerprint, sealed_private_key)
  select md5('app' || n)::uuid, 'root', 'app' || n, n, 'f', '\xfe' from generate_series(1, 1000) as n;
update sync.destinations set codehost_app_id = md5('app' || case when name ~ '^d7' then substr(name, 2) else '500' end)::uuid
 where name ~ '^d[3-8]\d\d$';

-- checks: 10,000 of the last two hours, of which every second is older than one; 100 have left a probe behind, and as many have just been requested
insert into sync.destination_checks (id, destination_id, destination_type, external_name, requested_at, ends_at, started_at, ended_at, removed_at)
  select md5('check' || n)::uuid, md5('destination' || case when n <= 100 or n between 7001 and 7100 then n % 100 + 1 else n % 1000 + 1 end)::uuid,
         'cloudA-sm', 'check' || n, at, at + case when n between 7001 and 7100 then interval '1 day' else interval '20 seconds' end,
         case when n not between 7001 and 7100 then at end, case when n not between 7001 and 7100 then at end,
         case when n > 100 and n not between 7001 and 7100 then at end
    from generate_series(1, 10000) as n, lateral (select now() - (n % 2) * interval '1 hour' - interval '30 minutes' as at) as t;

-- reads of stores: 10,000, of which every second is old
insert into sync.store_reads (id, destination_id, destination_type, question, requested_at, ends_at)
  select md5('read' || n)::uuid, md5('destination' || n % 1000 + 1)::uuid, 'cloudA-sm', '{"after": {"page": null, "name": ""}, "limit": 1}',
         now() - (n % 2) * interval '1 hour', now() + interval '1 day'
    from generate_series(1, 10000) as n;

-- looks at everything: every second one is due
insert into sync.inspections (destination_id, destination_type, due_at)
  select id, type, case when name ~ '[13579]$' then now() - interval '1 minute' else now() + interval '1 hour' end from sync.destinations;

-- imports: every second one is due; that of d1 has 100,000 lines, of which every second is to be associated
insert into sync.imports (destination_id, id, sealed_request, state, lines, due_at)
  select id, md5('import' || substr(name, 2))::uuid, '\x00', case when name ~ '[02468]$' then 'done' else 'running' end, case name when 'd1' then 100000 else 0 end,
         now() + case when name ~ '[1379]$' then -1 else 1 end * interval '1 hour' from sync.destinations where name ~ '^d\d';
insert into sync.import_lines (import_id, number, external_name, path, result, is_written, association)
  select md5('import1')::uuid, n, 'name' || n, 'path' || n, 'new', true, case when n % 2 = 0 then 'requested' end from generate_series(1, 100000) as n;

-- awaited values: 10,000
insert into sync.awaited_values (id, destination_id, secret_id, seen_revision, sealed_request, import_id, line)
  select md5('awaited' || n)::uuid, md5('destination' || n % 1000 + 1)::uuid, md5('secret' || n)::uuid, 1, '\x00', md5('import1')::uuid, n from generate_series(1, 10000) as n;

-- repairs: wanted in some, approved in one, and held in a hundred
insert into sync.repairs (destination_id, is_wanted, is_repairing, decisions, held_at)
  select id, name ~ '^d9\d$', name = 'd5', (name = 'd5')::int, case when name ~ '^d8\d\d$' then now() end
    from sync.destinations;

create temp table seeded as
  select d.id, d.name, s.n, s.kind, s.keys
    from sync.destinations d cross join lateral (
      select n, name as kind, case when n = 1 and name = 'd1' then 1000 when name = 'd1' then 3 else 2 end as keys
        from generate_series(1, pg_temp.scaled(case name when 'd1' then 99668 when 'd2' then 50000 when 'd3' then 50000 else 25000 end)) as n where name in ('d1', 'd2', 'd3', 'd4', 'd5')
      union all
      select n, case when n = 2 and name like '%0' then 'outstanding' when n = 3 and name like '%0' then 'leased' when n % 20 = 0 then 'failed' when n % 20 = 1 then 'removed'
                     when n % 2 = 0 then 'due' else 'synced' end, 4
        from generate_series(1, case when name in ('d21', 'd921') then 101 else pg_temp.scaled(101) end) as n where name not in ('d1', 'd2', 'd3', 'd4', 'd5')) as s;

-- The IDs of some are next to each other, so that a page by ID that has to skip them shows its cost.
insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision,
                               removing, source_gone_at, source_removals)
  select overlay(md5(name || '/' || n) placing case name when 'd2' then 'eeee' when 'd4' then 'ffff' else '' end from 1)::uuid,
         id, 'root', md5('mount')::uuid, 'kv', 'kv_1', md5('secret' || n)::uuid, 'team' || n % 100 || '/app' || n, 1,
         kind = 'removed' or kind = 'd2' and n > 5, case when kind = 'd5' or kind = 'd1' and n < 4 then now() - interval '2 hours' end, (kind = 'd5')::int
    from seeded;

insert into sync.entries (association_id, destination_id, destination_type, sub_key, external_name, collision_key, desired, status,
                          generation, applied_generation, fault, last_error, attempts, due_at, announced_at, lease_until, lease_owner,
                          fence, priority, updated_at)
  select a.id, a.destination_id, 'cloudA-sm', case when keys > 1 then k::text else '' end, secret_name || '/' || k, secret_name || '/' || k,
         case when a.removing then 'absent' else 'present' end,
         case kind when 'd3' then 'CLIENT_SIDE_ERROR' when 'failed' then 'CLIENT_SIDE_ERROR'
                   when 'd5' then 'SYNCED' when 'synced' then 'SYNCED' else 'PENDING' end,
         2, case when kind in ('d3', 'failed', 'd5', 'synced') then 2 else 1 end,
         case when kind in ('d3', 'failed') then 'rejected' end, case when kind in ('d3', 'failed') then 'refused' end, 0,
         case when kind in ('d1', 'd2', 'due', 'removed') then now() - (n % 1000) * interval '1 second'
              when kind = 'leased' then now() + interval '30 seconds' end,
         case when kind = 'outstanding' then now() - case when s.name like '%50' then 0 else 1 end * interval '1 hour' end,
         case when kind = 'leased' then now() + interval '1 hour' end, case when kind = 'leased' then 'w1' end,
         1, n % 3, now() - interval '1 day'
    from seeded s join sync.associations a
      on a.destination_id = s.id and a.accessor = 'kv_1' and a.secret_name = 'team' || n % 100 || '/app' || n
    cross join lateral generate_series(1, s.keys) as k;
-- In one destination, everything has drifted.
update sync.entries set drift = case when hashtext(external_name) % 2 = 0 then 'changed' else 'missing' end, drift_seen_at = now()
 where destination_id = md5('destination5')::uuid;
insert into sync.entry_history (entry_id, slot, number, destination_type, action, status, attempts)
  select e.id, n, n, e.destination_type, 'put', 'SYNCED', 1
    from sync.entries e cross join lateral generate_series(1, case when e.destination_id = md5('destination4')::uuid then 4 else hashtext(e.external_name) & 1 end) as n;
update sync.associations set unnamed_keys = '[{"key": "k", "reason": "r"}]'
  where destination_id = md5('destination21')::uuid or secret_name = 'team3/app3';
drop table seeded;

-- code-host destinations: 2,000 in 1,000 repositories, each with 20 entries, of which those of the first destination have been written
insert into sync.destinations (id, namespace_id, namespace_path, type, name, settings, scope_id)
  select md5('host' || n)::uuid, 'root', '', 'codehost', 'h' || n, '{}', (n / 2)::text from generate_series(2, 2001) as n;
insert into sync.associations (id, destination_id, namespace_id, mount_id, mount, accessor, secret_id, secret_name, planned_revision)
  select id, id, 'root', md5('mount')::uuid, 'kv', 'kv_1', md5('host secret')::uuid, 'host', 1 from sync.destinations where type = 'codehost';
insert into sync.entries (association_id, destination_id, destination_type, sub_key, external_name, collision_key, status, applied_generation,
                          put_started_at, due_at)
  select d.id, d.id, d.type, 'k' || k, 'K' || k, 'K' || k, case when n % 2 = 0 then 'SYNCED' else 'PENDING' end, 1 - n % 2,
         case when n % 2 = 0 then now() end, case when n % 2 = 1 then now() end
    from sync.destinations d cross join lateral (select substr(d.name, 2)::int as n) as numbered cross join generate_series(1, 20) as k
   where d.type = 'codehost';
-- 100,000 destinations that were deleted within four years
insert into sync.deleted_destinations (id, deleted_at)
  select md5('gone' || n)::uuid, now() - n * interval '20 minutes' from generate_series(1, 100000) as n;
-- 200,000 changes of secrets, which are new
insert into secrets.events (kind, mount_id, path, current_version)
  select 'data-write', m.id, 'team0/app' || n, 1
  from generate_series(1, 200000) as n, (select id from secrets.mounts where disabled_at is null limit 1) m;
-- 200,000 events, and outcomes of an hour in 3,000 namespaces
insert into sync.events (kind, destination_id, association_id, sub_key, external_name, status, outcome, attempts)
  select 'entry', destination_id, association_id, sub_key, external_name, status, 'succeeded', 1 from sync.entries limit pg_temp.scaled(200000);
insert into sync.outcome_minutes (namespace_id, destination_type, minute, succeeded, failed)
  select 'n' || n / 61, 'cloudA-sm', date_trunc('minute', now()) - n % 61 * interval '1 minute', 1, 1 from generate_series(1, pg_temp.scaled(200000)) as n;

-- auth mounts: 5,000, and one that was disabled after 50,000 tokens of 20,000 entities
insert into login.auth_mounts (id, namespace_id, path, type, accessor)
  select md5('auth mount' || n)::uuid, 'root', 'cloudB' || n, 'cloudB', 'auth_cloudB_' || n from generate_series(1, 5000) as n;
-- their configurations: ten mounts share an application, and rotations added the secrets of all but every hundredth
insert into login.cloudb_configs (mount_id, settings, sealed_client_secret)
  select md5('auth mount' || n)::uuid, jsonb_build_object('tenant_id', 't', 'resource', 'r', 'client_id', 'Application' || n / 10), '\x00' from generate_series(1, 5000) as n;
insert into login.cloudb_rotations (mount_id, current_key_id, discarded_key_ids)
  select md5('auth mount' || n)::uuid, case when n % 100 > 0 then 'key' || n end, array['discarded' || n] from generate_series(1, 5000) as n;
insert into login.cloudb_rotation_attempts (id, mount_id)
  select gen_random_uuid(), md5('auth mount' || n)::uuid from generate_series(1, 5000) as n;
update login.cloudb_rotations set due_at = now() where current_key_id is null or current_key_id ~ '7$';
-- roles: 5,000 of one mount, that bind a resource group of a subscription
insert into login.cloudb_roles (mount_id, name, row_hash, settings)
  select md5('auth mount1')::uuid, 'role' || n, case when n % 100 = 0 then 'r1:' else 'r2:' end, jsonb_build_object('bound_subscription_ids', jsonb_build_array(md5('subscription' || n % 7)::uuid),
         'bound_resource_groups', jsonb_build_array('group' || n)) from generate_series(1, 5000) as n;
-- the same of the method jwt, and 100,000 JWTs that were used, of which every tenth has expired
insert into login.jwt_configs (mount_id, settings)
  select md5('auth mount' || n)::uuid, jsonb_build_object('jwks_url', 'https://issuer' || n, 'default_role', 'role7') from generate_series(1, 5000) as n;
insert into login.jwt_roles (mount_id, name, row_hash, settings)
  select md5('auth mount1')::uuid, 'role' || n, case when n % 100 = 0 then 'r1:' else 'r2:' end, jsonb_build_object('bound_subject', 'subject' || n)
  from generate_series(1, 5000) as n;
insert into login.kubernetes_configs (mount_id, settings)
  select md5('auth mount' || n)::uuid, jsonb_build_object('kubernetes_host', 'https://cluster' || n) from generate_series(1, 5000) as n;
insert into login.kubernetes_roles (mount_id, name, row_hash, settings)
  select md5('auth mount1')::uuid, 'role' || n, case when n % 100 = 0 then 'r1:' else 'r2:' end, jsonb_build_object('audience', 'audience' || n)
  from generate_series(1, 5000) as n;
insert into login.used_jwts (mount_id, hash, expires_at)
  select md5('auth mount' || n % 5000 + 1)::uuid, decode(md5('jwt' || n), 'hex'), now() + (case when n % 10 = 0 then -1 else 1 end) * interval '1 hour'
  from generate_series(1, pg_temp.scaled(100000)) as n;
-- namespaces: 1,000 below the root, and 5,000 below one of them
insert into login.namespaces (id, path) select 'n' || n, 'n' || n from generate_series(1, 1000) as n;
insert into login.namespaces (id, path) select 'n1/team' || n, 'n1/team' || n from generate_series(1, 5000) as n;
-- keys of the issuer: one that signs, the next, and 1,000 that are no longer published
insert into login.identity_keys (id, state, public_jwk, sealed_private_key) values ('current', 'current', '{}', '\x00'), ('next', 'next', '{}', '\x00');
insert into login.identity_keys (id, state, public_jwk, published_until)
  select 'old' || n, 'retired', '{}', now() - interval '1 hour' from generate_series(1, 1000) as n;
insert into login.removed_owners (id, kind)
  values (md5('old auth mount')::uuid::text, 'auth mount'), ('old namespace', 'namespace');
insert into login.entities (id, namespace_id)
  select md5('entity' || n)::uuid, case when n <= 20000 then 'root' when n <= 40000 then 'old namespace' else 'root' end from generate_series(1, 100000) as n;
insert into login.entity_aliases (mount_id, name, entity_id, groups)
  select md5(case when n <= 20000 then 'old auth mount' else 'auth mount1' end)::uuid, 'principal' || n, md5('entity' || n)::uuid,
         array(select 'group' || (g * 20 + n) % 10000 from generate_series(1, case n when 50000 then 200 else 5 end) as g order by 1) from generate_series(1, 100000) as n;

-- groups: 5,000 of the directory's 10,000
insert into login.groups (id, namespace_id, name, policies)
  select md5('group' || n)::uuid, 'root', 'group' || n, array['p' || n % 20] from generate_series(1, 5000) as n;
insert into login.group_aliases (id, mount_id, name, group_id)
  select md5('group alias' || n)::uuid, md5('auth mount1')::uuid, 'group' || n, md5('group' || n)::uuid from generate_series(1, 5000) as n;

-- tokens: 50,000 of the disabled mount, 20,000 of a deleted namespace, 30,000 expired, 5,000 used up, 20,000 children of one and 2,000 of others
-- that expired, a chain of 64 generations, and 100,000 ordinary ones
insert into login.tokens (hash, accessor, parent_accessor, mount_id, namespace_id, display_name, creation_path, policies, renewable, ttl_seconds,
                          expires_at, uses_left, entity_id)
  select sha256(convert_to(kind || n, 'UTF8')), kind || n,
         case when kind = 'child' then case when n <= 20000 then 'ordinary1' else 'expired' || n end when kind = 'chain' and n > 1 then 'chain' || n - 1 end,
         case when kind = 'old' then md5('old auth mount')::uuid when kind = 'ordinary' then md5('auth mount' || n % 5000 + 1)::uuid end,
         case when kind = 'homeless' then 'old namespace' else 'root' end, '', '', '{default,p1,p2}', true, 3600,
         now() + case when kind = 'expired' then - n * interval '1 second' else interval '1 hour' end,
         case when kind = 'spent' then 0 end, md5('entity' || n)::uuid
    from (values ('old', 50000), ('homeless', 20000), ('expired', 30000), ('spent', 5000), ('child', 22000), ('chain', 64), ('ordinary', 100000)) as k (kind, count)
    cross join lateral generate_series(1, count) as n;
insert into login.rate_limit_quotas (name, namespace_id, path, written_path, rate, interval_seconds, block_seconds, inheritable, group_by)
  select 'limit' || n, 'n' || n, '', 'n' || n, 1, 1, 0, false, 'ip' from generate_series(1, 900) as n;
insert into login.rate_limit_usage (key, ends_at, taken)
  select 'key' || n, case when n % 10 = 0 then now() - interval '1 second' else now() + interval '1 hour' end, 5 from generate_series(1, 100000) as n;
insert into login.access_changes (epoch, concerns) select n, array['policy root p' || n] from generate_series(1, 20000) as n;
update login.access_epoch set value = 20000;
insert into login.policies (namespace_id, name, source, rules, row_hash)
  select 'root', 'p' || n, '', '{"paths":[]}', case when n % 100 = 0 then 'r1:' else 'r2:' end from generate_series(1, 5000) as n;

-- token roles: 5,000
insert into login.token_roles (namespace_id, name, settings, row_hash)
  select 'root', 'role' || n, '{}', case when n % 100 = 0 then 'r1:' else 'r2:' end from generate_series(1, 5000) as n;

-- wrapped responses: 100,000, of which every second has expired
insert into login.wrapped_responses (hash, accessor, namespace_id, sealed, ttl_seconds, creation_path, expires_at, bytes)
  select sha256(('wrapped' || n)::bytea), 'wrapped' || n, case when n % 4 = 0 then 'root' else 'n' || n end, '\x00', 60, 'kv/data/a',
         now() + case when n % 2 = 0 then 1 else -1 end * interval '1 day', 1
    from generate_series(1, 100000) as n;
insert into login.wrapped_space (namespace_id, bytes) select namespace_id, sum(bytes) from login.wrapped_responses group by namespace_id;

-- rules: 10,000 of one mount, of which every second is due, every third has an error, and half have a beginning that no path has. The first one has 50,000 holds,
-- of which its run has not confirmed every second, and 5,000 secrets are refused.
insert into sync.rules (id, destination_id, name, mount_id, mount, path, beginning, exclude, metadata_match, sealed_owner, run_id, due_at, error, last_run_at)
  select md5('rule' || n)::uuid, md5('destination' || case when n <= 1000 then 1 else n % 1000 + 1 end)::uuid, 'rule' || n, md5('mount')::uuid, 'kv',
         case when n % 2 = 0 then 'none' || n || '/*' else 'team' || n || '/*' end, case when n % 2 = 0 then 'none' || n else 'team' || n end,
         '{}', '{}', '\x00', md5('run')::uuid, now() + case when n % 2 = 0 then 1 else -1 end * interval '1 hour',
         case when n % 3 = 0 then 'e' end, now() - n * interval '1 second' from generate_series(1, 10000) as n;
insert into secrets.watched_patterns (rule_id, mount_id, beginning) select id, mount_id, beginning from sync.rules;
insert into sync.rule_holds (rule_id, association_id, run_id)
  select md5('rule1')::uuid, id, case when hashtext(id::text) % 2 = 0 then md5('run')::uuid else md5('earlier run')::uuid end
    from (select id from sync.associations limit 50000) as a;
insert into sync.rule_refusals (rule_id, secret_id, path, reason, due_at)
  select md5('rule1')::uuid, md5('secret' || n)::uuid, 'team' || n % 100 || '/app' || n, 'r', now() + case when n % 2 = 0 then 1 else -1 end * interval '1 hour'
    from generate_series(1, 5000) as n;
