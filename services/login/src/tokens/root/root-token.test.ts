import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createAuthenticator, tokenHash, tokenKind } from '@secrets/access';
import type { Db } from '@secrets/db';
import { testKeys } from '@secrets/http/testing';
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

const isStored = async (token: string) =>
  (await db.query('select 1 from login.tokens where hash = $1', [tokenHash(token)])).length > 0;

test('is created once, in a file with mode 0600, and stays revoked', async () => {
  expect(await ensureRootToken(db, { file })).toEqual({ created: true });
  const token = readFileSync(file, 'utf8').trim();
  expect(tokenKind(token)).toBe('service');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder)).toEqual(['root-token']);
  expect(await isStored(token)).toBe(true);
  expect(await ensureRootToken(db, { file })).toEqual({ created: false });
  await db.query('delete from login.tokens');
  await ensureRootToken(db, { file });
  expect(await isStored(token)).toBe(false);
});

test('is read from an existing file, such as one that a crashed first start has written', async () => {
  writeFileSync(file, 'root-token-of-the-operator\n');
  chmodSync(file, 0o400);
  expect(await ensureRootToken(db, { file })).toEqual({ created: true });
  expect(await isStored('root-token-of-the-operator')).toBe(true);
});

test.each(['', 'too-short', 'twenty characters and blanks', 'sst_and-more-than-that'])(
  'refuses a file that contains %j, without printing it',
  async (text) => {
    writeFileSync(file, text);
    const failure = await ensureRootToken(db, { file }).catch(String);
    expect(failure).toMatch(/root-token must contain a root token/);
    if (text !== '') expect(failure).not.toContain(text);
  },
);

test('is the same for two concurrent first starts', async () => {
  const created = await Promise.all([ensureRootToken(db, { file }), ensureRootToken(db, { file })]);
  expect(created.filter((start) => start.created)).toHaveLength(1);
  expect(await isStored(readFileSync(file, 'utf8').trim())).toBe(true);
});

test('grants access with the text that the operator chose', async () => {
  const text = 'a-root-token-of-the-operator';
  writeFileSync(file, text);
  await ensureRootToken(db, { file });
  const gateway = createAuthenticator({ db, keys: testKeys() });
  const request = {
    namespace: undefined,
    operation: 'read',
    path: 'sys/auth',
    remoteAddress: '127.0.0.1',
    requestId: 'r',
  } as const;
  expect((await gateway.authenticate({ ...request, token: text })).allowed).toBe(true);
  expect((await gateway.authenticate({ ...request, token: text.toUpperCase() })).allowed).toBe(false);
});
