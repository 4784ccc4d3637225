import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { migrate } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import { silentLogger } from '@secrets/telemetry';
import { prepareDatabase } from '../src/database/prepare-database.ts';
import { type DatabaseService, databaseServices, roleOf } from '../src/database-roles.ts';
import { as, logIn, passwords, preparedDb, prepareOnce, refusal } from './role-for-test.ts';

const denied = /permission denied/;
const ownSchema: Partial<Record<DatabaseService, string>> = {
  login: 'login',
  secrets: 'secrets',
  'sync-control': 'sync',
};

describe('the roles of the services', () => {
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

  test.each(databaseServices)('%s reads no table of another, but for what is said below', async (service) => {
    const said: Partial<Record<DatabaseService, string[]>> = {
      gateway: ['access_epoch', 'auth_mounts', 'namespaces', 'policies', 'tokens'].map(
        (name) => `login.${name}`,
      ),
      'sync-control': ['login.policies'],
      'sync-worker-clouda-sm': [
        'associations',
        'config',
        'destination_health',
        'destinations',
        'entries',
      ].map((name) => `sync.${name}`),
    };
    const others = ['login', 'secrets', 'sync'].filter((schema) => schema !== ownSchema[service]);
    const tables = (await Promise.all(others.map(tablesOf))).flat();
    const readable: string[] = [];
    for (const table of tables) {
      if ((await refusal(db, service, `select * from ${table}`)) === undefined) readable.push(table);
    }
    expect(readable.sort()).toEqual(said[service] ?? []);
  });

  test.each(databaseServices)('%s creates nothing', async (service) => {
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
    '%s changes rows of its schema, not its tables and not its history',
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
    '%s finds its schema up to date at its start',
    async (service, schema) => {
      const migrations = serviceSchemas.find((owned) => owned.schema === schema)!;
      expect(await as(db, service, (asRole) => migrate(asRole, migrations))).toEqual([]);
    },
  );

  test('the gateway takes uses of tokens and changes nothing else', async () => {
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

  test('a right that was given by hand is gone after the next run', async () => {
    await db.query('grant select on login.tokens to secrets');
    await db.query('grant usage on schema login to secrets');
    expect(await refusal(db, 'secrets', 'select * from login.tokens')).toBeUndefined();
    await prepareOnce(() => prepareDatabase(db, passwords, silentLogger()));
    expect(await refusal(db, 'secrets', 'select * from login.tokens')).toMatch(denied);
  });

  test('two runs at once both succeed', async () => {
    const run = () => prepareDatabase(db, passwords, silentLogger());
    await prepareOnce(() => Promise.all([run(), run()]));
  });

  test('each logs in with its own password, and a new one replaces it', async () => {
    if (db.url === undefined) return; // the embedded database has no logins
    const url = db.url;
    const nameBy = (service: DatabaseService, password: string) => {
      const role = logIn(url, service, password);
      return role.query<{ name: string }>('select current_user as name').finally(role.close);
    };
    // As a whole, since other test files give the same roles their passwords.
    await prepareOnce(async () => {
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

  test('no role is a member of another, or more than a login', async () => {
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
