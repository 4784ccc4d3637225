import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { deadlines as inLogin } from '../../login/src/deadlines.ts';
import { deadlines as inSecrets } from '../../secrets/src/queries/deadlines.ts';
import { deadlines as inSync } from '../../sync-control/src/queries/deadlines.ts';

const declared = [...inLogin, ...inSecrets, ...inSync];

/** Columns that stay as they are after the clock of the database was set back, by the reason. */
const others: Readonly<Record<string, readonly string[]>> = {
  'only shown, or only an order': [
    'login.auth_mounts.created_at',
    'login.cloudb_configs.updated_at',
    'login.cloudb_roles.updated_at',
    'login.jwt_configs.updated_at',
    'login.jwt_roles.updated_at',
    'login.kubernetes_configs.updated_at',
    'login.kubernetes_roles.updated_at',
    'login.entities.created_at',
    'login.entities.updated_at',
    'login.group_aliases.created_at',
    'login.group_aliases.updated_at',
    'login.groups.created_at',
    'login.groups.updated_at',
    'login.identity_issuer.updated_at',
    'login.namespaces.created_at',
    'login.policies.updated_at',
    'login.rate_limit_quotas.created_at',
    'login.removed_owners.removed_at',
    'login.root_token.made_at',
    'login.token_roles.updated_at',
    'login.wrapped_responses.created_at',
    'secrets.last_backup.at',
    'secrets.mounts.created_at',
    'secrets.secrets.created_at',
    'secrets.secrets.updated_at',
    'secrets.versions.created_at',
    'sync.associations.created_at',
    'sync.associations.updated_at',
    'sync.codehost_apps.created_at',
    'sync.codehost_apps.updated_at',
    'sync.destinations.created_at',
    'sync.destinations.updated_at',
    'sync.entries.drift_seen_at',
    'sync.entries.verified_at',
    'sync.entry_history.at',
    'sync.entry_history.since',
    'sync.imports.ended_at',
    'sync.imports.requested_at',
    'sync.rule_refusals.refused_at',
    'sync.rules.created_at',
    'sync.rules.last_run_at',
    'sync.rules.updated_at',
    ...['login', 'secrets', 'sync'].flatMap((schema) => [
      `${schema}.schema_version.run_at`,
      `${schema}.seal_rotation.started_at`,
    ]),
  ],
  'compared with years': ['sync.deleted_destinations.deleted_at'],
  'a mark: whether there is a time counts, or which one': [
    'secrets.mounts.disabled_at',
    'sync.codehost_apps.reconnect_initiated_at',
    'sync.destination_checks.ended_at',
    'sync.destination_checks.put_started_at',
    'sync.destination_checks.removed_at',
    'sync.destination_checks.started_at',
    'sync.destinations.deleted_at',
    'sync.destinations.purge_initiated_at',
    'sync.destinations.push_initiated_at',
    'sync.destinations.replan_initiated_at',
    'sync.entries.announced_at',
    'sync.entries.looked_at',
    'sync.installation.server_started_at',
    'sync.removal_brakes.held_at',
    'sync.repairs.held_at',
    'sync.store_reads.started_at',
    ...['login', 'secrets', 'sync'].map((schema) => `${schema}.seal_rotation.finished_at`),
  ],
  'the life of something that was issued or stored, which must not end early': [
    'login.identity_keys.published_until',
    'login.tokens.created_at',
    'login.tokens.expires_at',
    'login.tokens.max_expires_at',
    'login.tokens.renewed_at',
    'login.used_jwts.expires_at',
    'login.wrapped_responses.expires_at',
    'secrets.versions.deletion_time',
    'secrets.versions.expires_at',
  ],
  'of another clock: a directory, a provider, a gateway': [
    'login.cloudb_rotations.expires_at',
    'login.cloudb_rotations.pending_expires_at',
    'login.entity_aliases.groups_issued_at',
    'login.rate_limit_usage.ends_at',
  ],
  'derived again from `secret_since`': ['login.cloudb_rotations.scheduled_at'],
  'past events, which are kept a little longer': [
    'secrets.events.at',
    'sync.events.at',
    'sync.events.paused_until',
    'sync.outcome_minutes.minute',
  ],
  'written again every few seconds, as long as it matters': ['secrets.event_listening.until'],
  'the clock itself': ['login', 'secrets', 'sync'].flatMap((schema) => [
    `${schema}.clock.seen_at`,
    `${schema}.clock.set_back_at`,
  ]),
};

let db: Db;
beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db?.close());

test('each time in the database is corrected after the clock was set back, or need not be', async () => {
  const columns = await db.query<{ name: string }>(
    `select concat_ws('.', table_schema, table_name, column_name) as name from information_schema.columns
      where table_schema in ('login', 'secrets', 'sync') and data_type like 'timestamp%'
        and (table_schema, table_name) in (select schemaname, tablename from pg_tables)`,
  );
  const corrected = declared.flatMap(({ name, columns: times }) =>
    Object.keys(times).map((column) => `${name}.${column}`),
  );
  expect([...corrected, ...Object.values(others).flat()].sort()).toEqual(
    columns.map(({ name }) => name).sort(),
  );
});

test('the primary key of each of these tables is the one by which they are corrected', async () => {
  for (const { name, key } of declared) {
    const columns = await db.query<{ name: string; type: string }>(
      `select a.attname as name, format_type(a.atttypid, null) as type from pg_index i
       cross join unnest(i.indkey) as k(number) join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
       where i.indrelid = $1::text::regclass and i.indisprimary`,
      [name],
    );
    expect([name, ...columns.map((column) => [column.name, column.type])]).toEqual([name, [...key]]);
  }
});
