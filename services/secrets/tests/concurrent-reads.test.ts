import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { versionReader } from '../src/kv/versions/version-reader.ts';
import { findVersion } from '../src/queries/versions/find-version.ts';
import { type SecretsForTest, startSecretsForTest } from './secrets-for-test.ts';

let secrets: SecretsForTest;
let mount: { id: string; namespaceId: string; path: string };

beforeAll(async () => {
  secrets = await startSecretsForTest();
  await secrets.call('POST', '/sys/mounts/kv', { type: 'kv' });
  const [row] = await secrets.db.query<{ id: string }>("select id from secrets.mounts where path = 'kv'");
  mount = { id: row!.id, namespaceId: 'root', path: 'kv' };
});
afterAll(() => secrets.stop());

const write = (path: string, value: object) =>
  secrets.call('POST', `/kv/data/${path}`, { data: value, options: {} });
const lookup = (path: string, version = 0) => ({ mount, path, version });

/** The database, with the number of statements that it has executed. */
function counting() {
  let statements = 0;
  const db: Db = {
    ...secrets.db,
    query: (text, params) => {
      statements += 1;
      return secrets.db.query(text, params);
    },
  };
  return { db, statements: () => statements };
}

describe('concurrent reads', () => {
  test('take fewer statements than there are reads, and each returns its own version', async () => {
    const paths = Array.from({ length: 40 }, (_, at) => `each/${at}`);
    for (const path of paths) await write(path, { path });
    await write('each/7', { path: 'second' });
    const { db, statements } = counting();
    const read = versionReader(db);
    const lookups = [...paths.map((path) => lookup(path)), lookup('each/7', 1), lookup('each/7', 2)];
    const batched = await Promise.all(lookups.map(read));
    expect(statements()).toBeLessThan(4);
    expect(batched).toEqual(await Promise.all(lookups.map((one) => findVersion(secrets.db, one))));
    expect(batched.slice(-2).map((row) => row?.version)).toEqual([1, 2]);
  });

  test('find no version where there is none, beside those that exist', async () => {
    await write('here', { a: 1 });
    const read = versionReader(secrets.db);
    const found = await Promise.all([lookup('absent'), lookup('here'), lookup('here', 9)].map(read));
    expect(found).toEqual([null, expect.objectContaining({ version: 1 }), null]);
  });

  test('do not wait for a large value, which is read whole', async () => {
    const text = 'x'.repeat(100_000);
    await write('large', { text });
    await write('small', { a: 1 });
    const { db, statements } = counting();
    const read = versionReader(db);
    const [large, small] = await Promise.all([read(lookup('large')), read(lookup('small'))]);
    expect(large!.sealed!.length).toBeGreaterThan(100_000);
    expect(small!.sealed!.length).toBeLessThan(1_000);
    expect(statements()).toBe(2);
    expect((await secrets.call('GET', '/kv/data/large')).body.data.data).toEqual({ text });
  });

  test('of a mount that was disabled are refused, the others are not', async () => {
    await write('kept', { a: 1 });
    const read = versionReader(secrets.db);
    const moved = { ...lookup('kept'), mount: { ...mount, path: 'moved' } };
    const [gone, kept] = await Promise.allSettled([read(moved), read(lookup('kept'))]);
    expect(gone).toMatchObject({ status: 'rejected', reason: { name: 'StaleMountError' } });
    expect(kept).toMatchObject({ status: 'fulfilled', value: { version: 1 } });
  });

  test('return what was written before them', async () => {
    const read = versionReader(secrets.db);
    for (let version = 1; version <= 20; version += 1) {
      const others = [read(lookup('fresh')), read(lookup('here'))];
      await write('fresh', { version });
      expect((await read(lookup('fresh')))!.version).toBe(version);
      await Promise.all(others);
    }
  });
});
