import { type DatabaseService, workers } from '../database-roles.ts';

const dml = 'select, insert, update, delete';

/** The privileges of a service on its own schema: it changes rows, not tables, and only reads the migration history. */
const own = (schema: string): string[] => [
  `usage on schema ${schema}`,
  `${dml} on all tables in schema ${schema}`,
  `!insert, update, delete on ${schema}.schema_version`,
];

/**
 * The privileges that `libs/sync-entries` needs in a worker. A worker must not change the secret, destination or desired state
 * of an entry: that would let it read other secrets.
 */
const worker: string[] = [
  'usage on schema sync',
  'select on sync.deleted_destinations', // may an external secret be taken over?
  'select on sync.config, sync.destinations, sync.associations, sync.entries, sync.entry_values',
  'update (scope_id, scope_members) on sync.destinations',
  'select on sync.lanes, sync.destination_health',
  'delete on sync.entries, sync.associations',
  `update (status, attempts, next_attempt_at, due_at, announced_at, lease_owner, lease_until, fence, applied_generation,
    overwrite, verify, priority, pushed_hash, settings_hash, remote, put_started_at, fault, last_error, outcomes, synced_at, updated_at, requested_at,
    looked_at, look_error, verified_at, drift, drift_seen_at, evidence, repair_of) on sync.entries`,
  'select, insert, update (number, action, status, fault, error, attempts, repair_of, since, at) on sync.entry_history',
  'update (updated_at) on sync.associations', // required by `for update`
  'update (window_size, threshold, failures, refusals, paused_until, reason, tokens) on sync.lanes',
  'insert, update on sync.destination_health',
  'select, insert, update, delete on sync.workers',
  'select, update (seen_at, set_back_at) on sync.clock',
  'select, update (due_at, is_in_round, position, seen, last_seen, page_id, requested_at, inspected_at) on sync.inspections',
  'select on sync.held',
  'select (name, other_name), update (other_name) on sync.installation', // does this worker belong to it?
  'select on sync.destination_checks, sync.store_reads',
  'update (started_at, answer) on sync.store_reads',
  'usage on schema secrets',
  'select on sync.seal_keys, secrets.seal_keys', // does the key file have every key that is needed?
  'select (id, app_id, fingerprint, enterprise_url) on sync.codehost_apps', // is a client that is kept still that of its application?
  'update (started_at, ended_at, steps, remote, put_started_at, removed_at) on sync.destination_checks',
];

/** Additional rights of single workers. A worker that is not listed here cannot read the private keys of applications. */
const workersOwn: Readonly<Record<string, readonly string[]>> = {
  'sync-worker-codehost': ['select on sync.codehost_apps'],
};

/** All privileges of a worker. */
export const workerGrants = (name: string): string[] => [...worker, ...(workersOwn[name] ?? [])];

/**
 * All privileges of each role. A line is the text between `grant` and `to`. A line that begins with `!` revokes part of the
 * preceding ones.
 */
export const roleGrants: Record<DatabaseService, readonly string[]> = {
  gateway: [
    'usage on schema login',
    'select on login.tokens, login.policies, login.namespaces, login.auth_mounts, login.access_epoch, login.access_changes',
    'select on login.entities, login.entity_aliases, login.groups, login.group_aliases',
    'update (uses_left) on login.tokens',
    'select on login.rate_limit_quotas, login.wrapped_space',
    'select, insert, update on login.rate_limit_usage',
  ],
  login: [
    ...own('login'),
    'usage on schema sync',
    'select on sync.held', // may the passwords of applications be rotated?
  ],
  secrets: [
    ...own('secrets'),
    'usage on schema sync',
    'execute on function sync.external_secrets_of', // what does a mount take along?
    'usage on schema login',
    'select on login.policies', // which mounts may this caller see?
    'select (id, path) on login.namespaces',
    'select on login.access_epoch, login.entities, login.entity_aliases, login.groups, login.group_aliases, login.auth_mounts', // for policies with templates
  ],
  'sync-control': [
    ...own('sync'),
    '!all on sync.entry_values', // sealed values are for the workers
    'usage on schema login',
    'select on login.policies', // may this caller read that secret?
    'select on login.access_epoch, login.entities, login.entity_aliases, login.groups, login.group_aliases, login.auth_mounts', // for policies with templates
    'select (accessor, mount_id, parent_accessor, orphans_children, expires_at, max_expires_at, uses_left) on login.tokens', // do owners of rules exist?
  ],
  ...(Object.fromEntries(workers.map((name) => [name, workerGrants(name)])) as Record<
    (typeof workers)[number],
    string[]
  >),
};
