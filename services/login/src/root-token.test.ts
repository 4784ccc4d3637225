import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { tokenHash, tokenKind } from '@secrets/access';
import type { Db } from '@secrets/db';
import { openTestDb } from '@secrets/schemas/testing';
import { ensureRootToken } from './root-token.ts';

let db: Db;
let folder: string;
let file: string;

beforeAll(async () => {
  db = await openTestDb();
});
afterAll(() => db.close());

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'root-token-'));
  file = join(folder, 'root-token');
});

afterEach(async () => {
  rmSync(folder, { recursive: true });
  await db.query('delete from login.tokens');
  await db.query('delete from login.root_token');
});

const known = async (token: string) =>
  (await db.query('select 1 from login.tokens where hash = $1', [tokenHash(token)])).length > 0;

test('is made once, in a file for its owner alone, and stays revoked when it was revoked', async () => {
  expect(await ensureRootToken(db, { file })).toEqual({ created: true });
  const token = readFileSync(file, 'utf8').trim();
  expect(tokenKind(token)).toBe('service');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['root-token']);
  expect(await known(token)).toBe(true);
  expect(await ensureRootToken(db, { file })).toEqual({ created: false });
  await db.query('delete from login.tokens');
  await ensureRootToken(db, { file });
  expect(await known(token)).toBe(false);
});

test("is the operator's, as it is, which is also how a crash after the file heals", async () => {
  writeFileSync(file, 'root-token-of-the-operator\n');
  chmodSync(file, 0o400);
  expect(await ensureRootToken(db, { file })).toEqual({ created: true });
  expect(await known('root-token-of-the-operator')).toBe(true);
});

test.each(['', 'too-short', 'twenty characters and blanks', 'sst_and-more-than-that'])(
  'refuses a file that holds %j, without showing it',
  async (text) => {
    writeFileSync(file, text);
    const failure = await ensureRootToken(db, { file }).catch(String);
    expect(failure).toMatch(/root-token must hold a root token/);
    if (text !== '') expect(failure).not.toContain(text);
  },
);

test('two first starts at once agree on one', async () => {
  const made = await Promise.all([ensureRootToken(db, { file }), ensureRootToken(db, { file })]);
  expect(made.filter((start) => start.created)).toHaveLength(1);
  expect(await known(readFileSync(file, 'utf8').trim())).toBe(true);
});
