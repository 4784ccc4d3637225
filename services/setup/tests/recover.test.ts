import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { tokenHash } from '@secrets/access';
import type { TestDb } from '@secrets/db/testing';
import { ensureRootToken } from '@secrets/login';
import { openTestDb } from '@secrets/schemas/testing';
import { parseKeyRing } from '@secrets/seal';
import { checkRows } from '../src/database/check-rows.ts';
import { recover } from '../src/database/recover.ts';

const rowKeys = parseKeyRing(`r1:${randomBytes(32).toString('base64')} bound`, 'test');
let db: TestDb;
let folder: string;
let file: string;

beforeAll(async () => {
  db = await openTestDb();
  folder = mkdtempSync(join(tmpdir(), 'recover-'));
});
afterAll(async () => {
  await db.close();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  file = join(folder, randomBytes(4).toString('hex'));
});
afterEach(() => db.query('delete from sync.events'));

const read = (from = file) => readFileSync(from, 'utf8').trim();
const stored = async (token: string) => {
  const [row] = await db.query<Record<string, unknown>>(
    `select display_name, policies, renewable, uses_left, extract(epoch from expires_at - now())::int as seconds,
            extract(epoch from max_expires_at - now())::int as max_seconds from login.tokens where hash = $1`,
    [tokenHash(token)],
  );
  return row;
};
const events = async () =>
  (await db.query<{ kind: string }>('select kind from sync.events')).map(({ kind }) => kind);

test('requires that the first start has created the root token', async () => {
  await expect(recover(db, { file, rowKeys })).rejects.toThrow(/has no root token yet/);
  expect(() => statSync(file)).toThrow(/ENOENT/);
  expect(await events()).toEqual([]);
});

test('creates a root token for an hour that cannot be renewed, in a file for its owner alone', async () => {
  await ensureRootToken(db, { file: join(folder, 'root-token'), rowKeys });
  const { accessor, expiresAt } = await recover(db, { file, rowKeys });
  expect(accessor).toMatch(/^\w{24}$/);
  expect(Math.round((expiresAt.getTime() - Date.now()) / 60_000)).toBe(60);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const row = await stored(read());
  expect(row).toMatchObject({
    display_name: 'recovery',
    policies: ['root'],
    renewable: false,
    uses_left: null,
  });
  expect(row!.seconds).toBeLessThanOrEqual(3_600);
  expect(row!.max_seconds).toBeLessThanOrEqual(3_600);
  expect(await events()).toEqual(['recovery_token_created']);
  expect((await checkRows(db, rowKeys, { onListed: () => {} })).changed).toBe(0);
});

test('revokes the token of the call before, and records the change for caches', async () => {
  await recover(db, { file, rowKeys });
  const epoch = async () =>
    (await db.query<{ value: string }>('select value from login.access_epoch'))[0]!.value;
  const before = await epoch();
  const second = `${file}2`;
  await recover(db, { file: second, rowKeys });
  expect((await stored(read()))!.seconds).toBeLessThan(0);
  expect((await stored(read(second)))!.seconds).toBeGreaterThan(3_500);
  expect(Number(await epoch())).toBe(Number(before) + 1);
});

test('does not replace a file, and revokes nothing then', async () => {
  await recover(db, { file, rowKeys });
  const first = read();
  await expect(recover(db, { file, rowKeys })).rejects.toThrow(/exists: delete it, or set RECOVERY_FILE/);
  expect(read()).toBe(first);
  expect((await stored(first))!.seconds).toBeGreaterThan(3_500);
  writeFileSync(`${file}3`, 'of somebody else');
  await expect(recover(db, { file: `${file}3`, rowKeys })).rejects.toThrow(/exists/);
  expect(read(`${file}3`)).toBe('of somebody else');
});
