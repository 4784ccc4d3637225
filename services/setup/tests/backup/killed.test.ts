import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPostgres } from '@secrets/db';
import { createTestDb, type TestDb } from '@secrets/db/testing';
import { openTestDb } from '@secrets/schemas/testing';
import { eventually } from '../../../../tests/harness/eventually.ts';
import { hasSchemas } from '../../src/backup/database/describe-database.ts';
import { contentOf, keyFile, passphrase, program, run } from './archive-for-test.ts';

const rows = 200_000;

let folder: string;
let db: TestDb;
let target: TestDb;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
  for (const name of ['seal.key', 'row.key']) keyFile(join(folder, name));
  [db, target] = [await openTestDb(), await createTestDb()];
  const owner = openPostgres({ url: db.url, connections: 1, statementTimeoutMs: 120_000 });
  await owner
    .query(
      `insert into login.access_changes (epoch, concerns)
       select n, array[md5(n::text), md5((-n)::text), md5((n * 7)::text)] from generate_series(1, ${rows}) n`,
    )
    .finally(owner.close);
});
afterAll(async () => {
  await db.close();
  await target.close();
  rmSync(folder, { recursive: true });
});

const settings = (databaseUrl: string, file: string) => ({
  DATABASE_URL: databaseUrl,
  DATA_DIR: folder,
  BACKUP_FILE: file,
  BACKUP_PASSPHRASE: passphrase,
});

/** Starts a command and kills it as soon as the condition is met, which it must not survive. */
async function killWhen(
  command: string,
  env: Record<string, string>,
  isMet: () => Promise<boolean>,
): Promise<void> {
  const child = spawn(process.execPath, [program, command], { env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await eventually(isMet, (met) => met || child.exitCode !== null);
  child.kill('SIGKILL');
  expect((await ended)[1]).toBe('SIGKILL');
}

const isCopying = (application: string, statement: string) => async (): Promise<boolean> => {
  const found = await db.query(
    `select from pg_stat_activity where application_name = $1 and query ilike $2 and state = 'active'`,
    [application, `copy "login"."access_changes"%${statement}`],
  );
  return found.length > 0;
};

test('a backup that is killed leaves no archive, and what it has left is removed later', async () => {
  const file = join(folder, 'killed.age');
  const drafts = () => readdirSync(folder).filter((name) => name.startsWith('.killed.age.new-'));
  const isReading = isCopying('setup backup', 'to stdout');
  await killWhen(
    'backup',
    settings(db.url, file),
    async () => drafts().length > 0 && (await isReading()), // the file is opened beside the first statement
  );
  expect(existsSync(file)).toBe(false);
  expect(drafts()).toHaveLength(1);
  const [at] = await db.query<{ recent: boolean }>(
    `select b.at > (select max(run_at) from secrets.schema_version) + interval '1 second' as recent from secrets.last_backup b`,
  );
  expect(at).toEqual({ recent: false });
  utimesSync(join(folder, drafts()[0]!), new Date(0), new Date(0));
  await run('backup', settings(db.url, file));
  expect(drafts()).toEqual([]);
  expect(existsSync(file)).toBe(true);
});

test('a restore that is killed leaves an empty database, and the next one succeeds', async () => {
  const file = join(folder, 'killed.age');
  if (!existsSync(file)) await run('backup', settings(db.url, file));
  await killWhen('restore', settings(target.url, file), isCopying('setup restore', 'from stdin'));
  await eventually(
    () => db.query(`select from pg_stat_activity where application_name = 'setup restore'`),
    (found) => found.length === 0,
  );
  expect(await hasSchemas(target)).toBe(false);
  await run('restore', settings(target.url, file));
  const { '"secrets"."last_backup"': _, ...restored } = await contentOf(target.url);
  expect(await contentOf(db.url)).toMatchObject(restored);
});

test('a verification that is killed leaves a database that the next one drops', async () => {
  const file = join(folder, 'killed.age');
  if (!existsSync(file)) await run('backup', settings(db.url, file));
  const scratch = () =>
    db.query<{ name: string }>(
      `select datname as name from pg_database where datname like (select format('verify_backup_%s_%%', oid) from pg_database where datname = current_database())`,
    );
  await killWhen('verify-backup', settings(db.url, file), isCopying('setup restore', 'from stdin'));
  const [left] = await scratch();
  expect(left).toBeDefined();
  await eventually(
    () => db.query('select from pg_stat_activity where datname = $1', [left!.name]),
    (found) => found.length === 0,
  );
  await run('verify-backup', settings(db.url, file));
  expect(await scratch()).toEqual([]);
});
