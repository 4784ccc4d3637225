import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { latestVersion, migrateTo } from '@secrets/db';
import { createTestDb, type TestDb } from '@secrets/db/testing';
import { serviceSchemas } from '@secrets/schemas';
import { openTestDb } from '@secrets/schemas/testing';
import { readKeyRing } from '@secrets/seal';
import { silentLogger } from '@secrets/telemetry';
import { describeSchemas } from '../../../../libs/schemas/src/describe-schemas.ts';
import { verifyBackup } from '../../src/backup/verify-backup.ts';
import { backUp, check, keyFile, restoreInto } from './archive-for-test.ts';

let folder: string;
let [older, target, newest]: TestDb[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
  [older, target, newest] = [await createTestDb(), await createTestDb(), await openTestDb()];
});
afterAll(async () => {
  for (const db of [older, target, newest]) await db?.close();
  rmSync(folder, { recursive: true });
});

test('an archive of older schemas is verified, and restored with the migrations that it lacks', async () => {
  const database = older!;
  for (const migrations of serviceSchemas)
    await database.transaction((tx) => migrateTo(tx, migrations, latestVersion(migrations.folder) - 1));
  const path = randomUUID();
  await database.query(`insert into login.namespaces (id, path) values ($1, $2)`, [randomUUID(), path]);
  const [file, keys] = [join(folder, 'b.age'), [keyFile(join(folder, 'seal.key'))]];
  await backUp(database.url, file);
  const rowKeys = readKeyRing(keyFile(join(folder, 'row.key')));
  const options = { databaseUrl: database.url, rowKeys, log: silentLogger() };
  expect((await verifyBackup(await check(file, keys), options)).rows).toBeGreaterThan(0);
  await restoreInto(target!.url, file, keys);
  const schemas = ['login', 'secrets', 'sync'];
  expect(await describeSchemas(target!, schemas)).toBe(await describeSchemas(newest!, schemas));
  expect(await target!.query('select path from login.namespaces where path = $1', [path])).toEqual([
    { path },
  ]);
});
