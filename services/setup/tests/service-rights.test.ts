import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import { silentLogger } from '@secrets/telemetry';
import { prepareDatabase } from '../src/database/prepare-database.ts';
import { type DatabaseService, databaseServices, roleOf, workers } from '../src/database-roles.ts';
import { as, exclusively, logIn, passwords, preparedDb, refusal } from './role-for-test.ts';

const denied = /permission denied/;
const ownSchema: Partial<Record<DatabaseService, string>> = {
  login: 'login',
  secrets: 'secrets',
  'sync-control': 'sync',
};

/** The tables that a worker reads. Applications are for the worker of the code host. */
const tablesOfWorker = (name: string): string[] => [
  'secrets.seal_keys',
  ...[
    'associations',
    'clock',
    ...(name === 'sync-worker-codehost' ? ['codehost_apps'] : []),
    'config',
    'deleted_destinations',
    'destination_checks',
    'destination_health',
    'destinations',
    'entries',
    'entry_history',
    'inspections',
    'lanes',
    'seal_keys',
    'store_reads',
    'workers',
  ].map((table) => `sync.${table}`),
];

describe('database roles of the services', () => {
  let db: Awaited<ReturnType<typeof preparedDb>>;

  beforeAll(async () => {
    db = await preparedDb();
  });
  afterAll(() => db.close());

  const tablesOf = async (schema: string): Promise<string[]> => {
    const rows = await db.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = $1`,
      [schema],
    );
    return rows.map(({ name }) => name);
  };

  test.each(databaseServices)('%s reads no table of another service but the listed ones', async (service) => {
    const ofPolicies = [
      'access_epoch',
      'auth_mounts',
      'entities',
      'entity_aliases',
      'group_aliases',
      'groups',
      'policies',
    ].map((name) => `login.${name}`);
    const allowed: Partial<Record<DatabaseService, string[]>> = {
      gateway: [
        'access_changes',
        'access_epoch',
        'auth_mounts',
        'entities',
        'entity_aliases',
        'group_aliases',
        'groups',
        'namespaces',
        'policies',
        'rate_limit_quotas',
        'rate_limit_usage',
        'tokens',
        'wrapped_space',
      ].map((name) => `login.${name}`),
      secrets: ofPolicies,
      'sync-control': ofPolicies,
    };
    for (const worker of workers) allowed[worker] = tablesOfWorker(worker);
    const others = ['login', 'secrets', 'sync'].filter((schema) => schema !== ownSchema[service]);
    const tables = (await Promise.all(others.map(tablesOf))).flat();
    const readable: string[] = [];
    for (const table of tables) {
      if ((await refusal(db, service, `select * from ${table}`)) === undefined) readable.push(table);
    }
    expect(readable.sort()).toEqual(allowed[service] ?? []);
  });

  test.each(databaseServices)('%s can create nothing', async (service) => {
    const schema = ownSchema[service] ?? (service === 'gateway' ? 'login' : 'sync');
    for (const text of [
      `create table ${schema}.mine (id int)`,
      'create table public.mine (id int)',
      'create temporary table mine (id int)',
      'create schema mine',
      `create function ${schema}.mine() returns int language sql as 'select 1'`,
      'create role mine',
    ]) {
      expect(await refusal(db, service, text)).toMatch(/permission denied|must be|schema .* does not exist/);
    }
  });

  test.each(Object.entries(ownSchema) as [DatabaseService, string][])(
    '%s changes rows of its schema, but not its tables or migration history',
    async (service, schema) => {
      for (const table of await tablesOf(schema)) {
        const history = table.endsWith('schema_version');
        expect(await refusal(db, service, `delete from ${table}`)).toEqual(
          history ? expect.stringMatching(denied) : undefined,
        );
        expect(await refusal(db, service, `truncate ${table} cascade`)).toMatch(denied);
        expect(await refusal(db, service, `drop table ${table} cascade`)).toMatch(/must be owner/);
      }
    },
  );

  test.each(Object.entries(ownSchema) as [DatabaseService, string][])(
    '%s finds its schema migrated',
    async (service, schema) => {
      const migrations = serviceSchemas.find((owned) => owned.schema === schema)!;
      expect(await as(db, service, (asRole) => migrate(asRole, migrations))).toEqual([]);
    },
  );

  test('the gateway changes only the remaining uses of tokens', async () => {
    expect(await refusal(db, 'gateway', 'update login.tokens set uses_left = uses_left - 1')).toBeUndefined();
    for (const text of [
      `update login.tokens set policies = '{root}'`,
      'update login.tokens set expires_at = null',
      'delete from login.tokens',
      `update login.policies set rules = '[]'`,
      'update login.access_epoch set value = 0',
    ]) {
      expect(await refusal(db, 'gateway', text)).toMatch(denied);
    }
  });

  test('revokes privileges that were granted manually', async () => {
    await db.query('grant select on login.tokens to secrets');
    await db.query('grant usage on schema login to secrets');
    expect(await refusal(db, 'secrets', 'select * from login.tokens')).toBeUndefined();
    await exclusively(() => prepareDatabase(db, passwords, silentLogger()));
    expect(await refusal(db, 'secrets', 'select * from login.tokens')).toMatch(denied);
  });

  test('concurrent runs succeed', async () => {
    const run = () => prepareDatabase(db, passwords, silentLogger());
    await exclusively(() => Promise.all([run(), run()]));
  });

  test('each role logs in with its own password, which can be replaced', async () => {
    const { url } = db;
    const nameBy = (service: DatabaseService, password: string) => {
      const role = logIn(url, service, password);
      return role.query<{ name: string }>('select current_user as name').finally(role.close);
    };
    // Exclusively, because other test files set the passwords of the same roles.
    await exclusively(async () => {
      for (const service of databaseServices) {
        expect(await nameBy(service, passwords[service])).toEqual([{ name: roleOf(service) }]);
      }
      const asksForPasswords = await nameBy('login', 'wrong').then(
        () => false,
        () => true,
      );
      const changed = { ...passwords, secrets: 'a new one' };
      await prepareDatabase(db, changed, silentLogger());
      expect(await nameBy('secrets', 'a new one')).toHaveLength(1);
      if (asksForPasswords) {
        await expect(nameBy('secrets', passwords.secrets)).rejects.toThrow(/password authentication/);
      }
      await prepareDatabase(db, passwords, silentLogger());
    });
  });

  test('no role has attributes but login, or is a member of another', async () => {
    const rows = await db.query(
      `select rolname from pg_roles
        where rolname = any($1::text[])
          and (rolsuper or rolcreaterole or rolcreatedb or rolreplication or rolbypassrls or rolinherit
               or exists (select from pg_auth_members m where m.member = pg_roles.oid))`,
      [databaseServices.map(roleOf)],
    );
    expect(rows).toEqual([]);
  });
});
