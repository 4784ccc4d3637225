import { type DatabaseService, workers } from '../database-roles.ts';

const dml = 'select, insert, update, delete';

/** What a service does with a schema of its own: its rows, never its tables, and its history of migrations only to read. */
const own = (schema: string): string[] => [
  `usage on schema ${schema}`,
  `${dml} on all tables in schema ${schema}`,
  `!insert, update, delete on ${schema}.schema_version`,
];

/**
 * What a worker does, and no more (`libs/sync-entries`). Which entry belongs to which secret and destination, and
 * what is wanted of it, is not for a worker to change: it would read another's secret by it.
 */
const worker: string[] = [
  'usage on schema sync',
  'select on sync.config, sync.destinations, sync.associations, sync.entries, sync.destination_health, sync.entry_values',
  'delete on sync.entries, sync.associations',
  `update (status, attempts, next_attempt_at, due_at, announced_at, lease_owner, lease_until, fence, applied_generation,
    overwrite, verify, pushed_hash, settings_hash, remote, fault, last_error, synced_at, updated_at) on sync.entries`,
  'update (updated_at) on sync.associations', // what `for update` asks for
  'insert, update on sync.destination_health',
];

/**
 * The rights of each role, all of them: what is not named here it does not have. A line is the text between `grant`
 * and `to`; one that begins with `!` takes back a part of what the lines before it gave.
 */
export const roleGrants: Record<DatabaseService, readonly string[]> = {
  gateway: [
    'usage on schema login',
    'select on login.tokens, login.policies, login.namespaces, login.auth_mounts, login.access_epoch',
    'update (uses_left) on login.tokens',
  ],
  login: own('login'),
  secrets: own('secrets'),
  'sync-control': [
    ...own('sync'),
    '!all on sync.entry_values', // sealed values are for the workers
    'usage on schema login',
    'select on login.policies', // may this caller read that secret?
  ],
  ...(Object.fromEntries(workers.map((name) => [name, worker])) as Record<
    (typeof workers)[number],
    string[]
  >),
};
