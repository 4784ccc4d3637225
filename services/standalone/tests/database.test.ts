import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { migrate } from '@secrets/db';
import { createTestDb, type TestDb } from '@secrets/db/testing';
import { schemas } from '@secrets/schemas';
import { insertToken } from '../../../libs/access/src/testing.ts';
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

async function heldBecause({ url, rootTokenFile }: Standalone): Promise<unknown> {
  const token = (await readFile(rootTokenFile, 'utf8')).trim();
  const response = await fetch(`${url}/v1/sys/sync/status`, { headers: { 'x-service-token': token } });
  return ((await response.json()) as { data: { held_because: unknown } }).data.held_because;
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

test('a data folder that was moved syncs nothing until somebody confirms it, and one that stays where it is does', () =>
  withFolder(async (parent) => {
    const heldIn = async (folder: string, isConfirmed = false) => {
      const standalone = await startStandaloneForTest({ DATA_DIR: join(parent, folder), SANDBOX: 'off' });
      try {
        if (isConfirmed) expect(await post(standalone, 'sys/sync/confirm-installation', {})).toBe(200);
        return await heldBecause(standalone);
      } finally {
        await standalone.stop();
      }
    };
    expect([await heldIn('one'), await heldIn('one')]).toEqual([null, null]);
    await rename(join(parent, 'one'), join(parent, 'two'));
    expect([await heldIn('two'), await heldIn('two', true)]).toEqual(['database', null]);
  }));

test('a new installation has a bound row key', () =>
  withFolder(async (folder) => {
    await (await startOnDb(folder)).stop();
    expect(await readFile(join(folder, 'row.key'), 'utf8')).toMatch(/^r1:\S+ bound\n$/);
  }));

/** Migrates as the version before the row key did. */
async function prepareOlderSchemas(folder: string): Promise<void> {
  const older = join(folder, 'migrations');
  await cp(schemas.login.folder, older, { recursive: true });
  for (const file of await readdir(older)) if (Number.parseInt(file, 10) > 22) await rm(join(older, file));
  await migrate(db, { schema: 'login', folder: older });
  for (const schema of [schemas.secrets, schemas.sync]) await migrate(db, schema);
}

test('the tokens of an installation from before there was a row key still work, and its row key is not bound', () =>
  withFolder(async (folder) => {
    await prepareOlderSchemas(folder);
    const { token } = await insertToken(db);
    await db.query('insert into login.root_token default values');
    await writeFile(join(folder, 'root-token'), token);
    await writeFile(join(folder, 'seal.key'), randomBytes(32).toString('base64'));
    const upgraded = await startOnDb(folder);
    try {
      expect(await readFile(join(folder, 'row.key'), 'utf8')).toMatch(/^r1:\S+\n$/);
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
