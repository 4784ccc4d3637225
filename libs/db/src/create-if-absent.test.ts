import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createIfAbsent } from './create-if-absent.ts';
import { openEmbedded } from './open-embedded.ts';

const root = mkdtempSync(join(tmpdir(), 'create-'));
afterAll(() => rmSync(root, { recursive: true }));

test('a database takes the place of what a crash left half made, and is made once', async () => {
  const folder = join(root, 'pg');
  mkdirSync(folder);
  writeFileSync(join(folder, 'half'), 'made');
  mkdirSync(join(root, 'pg.new-1'));
  await createIfAbsent(folder);
  expect(readdirSync(root)).toEqual(['pg']);
  expect(existsSync(join(folder, 'half'))).toBe(false);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const version = readFileSync(join(folder, 'PG_VERSION'), 'utf8');
  const made = statSync(join(folder, 'PG_VERSION')).mtimeMs;
  await createIfAbsent(folder);
  expect(statSync(join(folder, 'PG_VERSION')).mtimeMs).toBe(made);
  const db = await openEmbedded({ dataDir: folder });
  const [row] = await db.query<{ server_version: string }>('show server_version');
  expect(row?.server_version).toMatch(new RegExp(`^${version.trim()}`));
  await db.close();
});

test('a folder in which nothing can be made is named', async () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  await expect(createIfAbsent(join(file, 'pg'))).rejects.toThrow(/file/);
});
