import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Db } from '../db.ts';
import { createTestDb, type TestDb } from '../testing.ts';
import { openPostgres } from './open-postgres.ts';
import { beginSession, type NewConnection, sessionSettings } from './session.ts';

let owner: TestDb;
let db: Db;

/** Defaults under which statements of the services fail, change their meaning or return other texts. */
const hostileDefaults: Record<string, string> = {
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  statement_timeout: '20',
  lock_timeout: '10',
  idle_in_transaction_session_timeout: '200',
  idle_session_timeout: '200',
  datestyle: 'SQL, DMY',
  intervalstyle: 'iso_8601',
  timezone: 'Pacific/Chatham',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  transform_null_equals: 'on',
  client_encoding: 'LATIN1',
  search_path: 'elsewhere',
  plan_cache_mode: 'force_custom_plan',
  enable_seqscan: 'on',
  enable_bitmapscan: 'on',
  jit: 'on',
};

beforeAll(async () => {
  owner = await createTestDb();
  await owner.query('create table things (id int)');
});
afterAll(() => owner?.close());
beforeEach(async () => {
  const database = new URL(owner.url).pathname.slice(1);
  for (const [name, value] of Object.entries(hostileDefaults))
    await owner.query(`alter database ${database} set ${name} = '${value}'`);
  db = openPostgres({ url: owner.url, connections: 2 });
});
afterEach(() => db?.close());

test('the defaults of the server, the database and the role do not matter', async () => {
  const [row] = await db.query(
    `select '2026-11-25T12:00:00Z'::timestamptz as at, '2026-11-25T12:00:00Z'::timestamptz::text as text, interval '90 minutes' as span,
            '\\x00ff'::bytea as bytes, 0.1::float8 as number, 'a\\b' as backslash, '€' as euro, null = null as nothing`,
  );
  expect(row).toMatchObject({ text: '2026-11-25 12:00:00+00', number: 0.1, backslash: 'a\\b', euro: '€' });
  const { at, bytes, span, nothing } = row as { at: Date; bytes: Uint8Array; span: object; nothing: null };
  expect([at.toISOString(), [...bytes], { ...span }, nothing]).toEqual([
    ...['2026-11-25T12:00:00.000Z', [0, 255]],
    ...[{ hours: 1, minutes: 30 }, null],
  ]);
  await db.query('select pg_sleep(0.1) from (select count(*) from things) t');
  await db.transaction(async (tx) => {
    const count = async () => (await tx.query<{ n: number }>('select count(*) as n from things'))[0]!.n;
    expect(await count()).toBe(0);
    await owner.query('insert into things values (1)');
    expect(await count()).toBe(1); // read committed
  });
  const settings = await db.query<{ name: string; setting: string }>('select name, setting from pg_settings');
  const stated = sessionSettings({ statementTimeoutMs: 15_000, lockTimeoutMs: 5_000 });
  expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toMatchObject(stated);
  expect(
    Object.keys(stated)
      .map((name) => name.toLowerCase())
      .sort(),
  ).toEqual(Object.keys(hostileDefaults).sort());
});

test.each(['53100', '53200', '53400', '58030'])(
  'SQLSTATE %s means that the database is unavailable',
  async (code) => {
    const fails = `do $$ begin raise exception 'no room' using errcode = '${code}'; end $$`;
    await expect(db.query(fails)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(db.transaction((tx) => tx.query(fails))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(await db.query('select 1 as one')).toEqual([{ one: 1 }]);
  },
);

/**
 * Sessions of a pooler: `holds` says whether what was set is there in the next transaction, `lends` whether another client gets
 * it.
 */
function pooler({ holds = true, lends = false, ignores = '' } = {}): NewConnection {
  let inForce: Record<string, string> = { jit: 'on' };
  const run = (text: string): object[] => {
    const set = /^set (\S+) = '?(.*?)'?$/.exec(text);
    if (set !== null && set[1] !== ignores) inForce[set[1]!] = set[2]!;
    if (text.includes(' as marker')) return [{ marker: inForce['secrets_service.session'] ?? null }];
    if (text.includes(' as pid')) return [{ pid: 7 }];
    if (text.includes('isReadOnly')) return [{ isReadOnly: false }];
    if (text.startsWith('select name, setting'))
      return Object.entries(inForce).map(([name, setting]) => ({ name, setting }));
    return [];
  };
  const connection = {
    processID: 1,
    query: async ({ text }: { text: string }) => {
      const results = text.split('; ').map((statement) => ({ rows: run(statement) }));
      if (!holds) inForce = {};
      return results.length === 1 ? results[0] : results;
    },
  };
  others.set(
    connection,
    lends ? connection : { processID: 2, query: async () => ({ rows: [{ marker: null }] }) },
  );
  return connection;
}
const others = new WeakMap<NewConnection, NewConnection>();

const begin = (connection: NewConnection) =>
  beginSession(connection, sessionSettings({ statementTimeoutMs: 1, lockTimeoutMs: 1 }), 1_000, (work) =>
    work(others.get(connection)!),
  );

test('a pooler that keeps a session for its client is accepted', () => begin(pooler()));

test.each([
  [
    'forgets what was set',
    { holds: false },
    /such as PgBouncer in transaction or statement mode; this is not supported/,
  ],
  ['lends connections to others', { lends: true }, /use session mode with server_reset_query = DISCARD ALL/],
  ['does not pass on a setting', { ignores: 'jit' }, /stated are not in force: jit; a pooler/],
])('one that %s is refused, and the message says what to do', async (_name, behaviour, message) => {
  await expect(begin(pooler(behaviour))).rejects.toThrow(message);
});
