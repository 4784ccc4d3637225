import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@secrets/testing';
import type { Db } from '../db.ts';
import { freePort } from '../embedded/address.ts';
import { createTestDb, type TestDb } from '../testing.ts';
import { openPostgres } from './open-postgres.ts';

const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0;
if (!isInstalled) console.warn('not run: connections through PgBouncer: it is not installed');
const suite = isInstalled ? describe : describe.skip;

suite('through PgBouncer', () => {
  let owner: TestDb;
  let folder: string;
  let bouncer: ChildProcess | undefined;
  let db: Db;

  beforeAll(async () => {
    owner = await createTestDb();
    await owner.query('create table things (id int)');
  });
  afterAll(() => owner?.close());
  afterEach(async () => {
    await db?.close();
    bouncer?.kill('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  /** Starts PgBouncer with its default settings but the mode. */
  async function open(poolMode: string, more = ''): Promise<void> {
    folder = mkdtempSync(join(tmpdir(), 'pgbouncer-'));
    chmodSync(folder, 0o755);
    const port = await freePort();
    const { hostname, port: serverPort, username, password, pathname } = new URL(owner.url);
    writeFileSync(
      join(folder, 'pgbouncer.ini'),
      `[databases]\n* = host=${decodeURIComponent(hostname)} port=${serverPort || 5432} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nauth_type = any\nunix_socket_dir =\npool_mode = ${poolMode}\n${more}\n`,
    );
    const asUser = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
    bouncer = spawn('pgbouncer', ['-q', ...asUser, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
    await once(bouncer, 'spawn');
    db = openPostgres({ url: `postgres://${username}@127.0.0.1:${port}${pathname}`, connections: 4 });
  }
  const causeOf = () =>
    db.query('select 1').then(
      () => undefined,
      (error: Error & { kind: string }) => [error.kind, String((error.cause as Error).message)],
    );

  test('in session mode, every setting holds', async () => {
    await open('session');
    await eventually(() => db.query('select 1'));
    const settings = await Promise.all(
      [1, 2, 3].map(() =>
        db.transaction(async (tx) => {
          await tx.query('insert into things values (1)');
          return tx.query(
            `select current_setting('statement_timeout') as a, current_setting('plan_cache_mode') as b, current_setting('enable_seqscan') as c`,
          );
        }),
      ),
    );
    expect(settings).toEqual(Array(3).fill([{ a: '15s', b: 'force_generic_plan', c: 'off' }]));
  });

  test.each([
    ['transaction', ''],
    ['statement', ''],
    ['transaction', 'server_reset_query_always = 1'],
  ])('%s mode is refused with a reason (%s)', async (mode, more) => {
    await open(mode, more);
    const isShared = [
      'unavailable',
      expect.stringContaining('use session mode with server_reset_query = DISCARD ALL'),
    ];
    await eventually(async () => expect(await causeOf()).toEqual(isShared), { timeoutMs: 5_000 });
  });
});
