import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTestDb, type TestDb } from '@secrets/db/testing';
import type { Standalone } from '../src/app.ts';
import { startFailure } from '../src/operator-messages.ts';
import { startStandaloneForTest, withFolder } from './standalone-for-test.ts';

let db: TestDb;
beforeEach(async () => {
  db = await createTestDb();
});
afterEach(() => db.close());

const startOnDb = (folder: string) =>
  startStandaloneForTest({ DATA_DIR: folder, DATABASE_URL: db.url, SANDBOX: 'off' });

async function post({ url, rootTokenFile }: Standalone, path: string, body: unknown): Promise<number> {
  const token = (await readFile(rootTokenFile, 'utf8')).trim();
  const response = await fetch(`${url}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-service-token': token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.status;
}

test('stores everything on the server of DATABASE_URL', () =>
  withFolder(async (folder) => {
    const standalone = await startOnDb(folder);
    try {
      expect(await post(standalone, 'sys/mounts/kv', { type: 'kv' })).toBe(204);
      expect(await post(standalone, 'kv/data/a', { data: { b: 'c' } })).toBe(200);
    } finally {
      await standalone.stop();
    }
    expect(await db.query('select path from secrets.secrets')).toEqual([{ path: 'a' }]);
    expect(existsSync(join(folder, 'postgres'))).toBe(false);
  }));

test('refuses a database that another standalone process uses, with a sentence for the operator', () =>
  withFolder(async (first) =>
    withFolder(async (second) => {
      const standalone = await startOnDb(first);
      try {
        const error = await startOnDb(second).catch((refused: unknown) => refused);
        expect(startFailure(error, undefined)).toMatch(/^the database is in use by another process/);
      } finally {
        await standalone.stop();
      }
    }),
  ));

test('refuses to create a new seal key or row key if the database contains data that needs the old one', () =>
  withFolder(async (folder) => {
    await (await startOnDb(folder)).stop();
    for (const name of ['seal.key', 'row.key']) {
      const file = join(folder, name);
      await rename(file, `${file}.away`);
      await expect(startOnDb(folder)).rejects.toThrow(`${file} is missing`);
      expect(existsSync(file)).toBe(false);
      await rename(`${file}.away`, file);
    }
  }));

test('a new installation has a bound row key; that of one from before there was any is not, and its tokens still work', () =>
  withFolder(async (folder) => {
    const rowKey = join(folder, 'row.key');
    await (await startOnDb(folder)).stop();
    expect(await readFile(rowKey, 'utf8')).toMatch(/^r1:\S+ bound\n$/);
    await rm(rowKey);
    await db.query('update login.tokens set row_hash = null'); // as the version before stores them
    const upgraded = await startOnDb(folder);
    try {
      expect(await readFile(rowKey, 'utf8')).toMatch(/^r1:\S+\n$/);
      expect(await post(upgraded, 'sys/mounts/kv', { type: 'kv' })).toBe(204);
    } finally {
      await upgraded.stop();
    }
  }));

test('refuses the data folder of version 0.1', () =>
  withFolder(async (folder) => {
    const olderFolder = join(folder, 'database');
    await mkdir(olderFolder);
    await writeFile(join(olderFolder, 'PG_VERSION'), '16\n');
    await expect(startStandaloneForTest({ DATA_DIR: folder })).rejects.toThrow(
      `${olderFolder} was created by version 0.1`,
    );
  }));
