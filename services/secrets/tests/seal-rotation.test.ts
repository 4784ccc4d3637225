import { randomBytes, randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Db } from '@secrets/db';
import { versionAad } from '@secrets/domain';
import { openTestDb } from '@secrets/schemas/testing';
import { encrypt, type KeyRing, parseKeyRing, sealedWith } from '@secrets/seal';
import { recordSealKeys, SealRotation } from '@secrets/seal-rotation';
import { createLogger } from '@secrets/telemetry';
import { readValue } from '../src/kv/versions/read-value.ts';
import { versionReader } from '../src/kv/versions/version-reader.ts';
import { sealedTables } from '../src/sealed-tables.ts';

const line = (id: string) => `${id}:${randomBytes(32).toString('base64')}`;
const [k1, k2, k3] = [line('k1'), line('k2'), line('k3')];
const ring = (...lines: string[]) => parseKeyRing(lines.join('\n'), 'the test');
const [older, both] = [ring(k1), ring(k2, k1)];

let db: Db;
let logs: string[];
const mount = { id: randomUUID(), namespaceId: 'root', path: 'kv' };

beforeEach(async () => {
  db = await openTestDb();
  logs = [];
  await db.query(
    `insert into secrets.mounts (id, namespace_id, path, accessor) values ($1, 'root', 'kv', 'kv_1')`,
    [mount.id],
  );
});
afterEach(() => db.close());

const rotationWith = (keyRing: KeyRing, quietSeconds = 0, on = db) => {
  const log = createLogger({ service: 'secrets', destination: { write: (text) => void logs.push(text) } });
  return new SealRotation(
    { db: on, schema: 'secrets', tables: sealedTables, keyRing, log },
    { pollSeconds: 60, quietSeconds },
  );
};

/** Starts a rotation, as a process does, and stops its background work. */
async function started(keyRing: KeyRing, quietSeconds?: number): Promise<SealRotation> {
  const rotation = rotationWith(keyRing, quietSeconds);
  await (await rotation.start()).stop();
  return rotation;
}

/** Inserts secrets with one version each; the value is the path. */
async function insertSecrets(paths: readonly string[], keyRing: KeyRing, size = 0): Promise<void> {
  const rows = paths.map((path) => {
    const [id, versionId] = [randomUUID(), randomUUID()];
    const text = JSON.stringify({ path, padding: 'x'.repeat(size) });
    const aad = versionAad({ mountId: mount.id, path, versionId });
    return { id, versionId, path, sealed: encrypt(keyRing, aad, Buffer.from(text)) };
  });
  const column = (name: 'id' | 'versionId' | 'path' | 'sealed') => rows.map((row) => row[name]);
  await db.query(
    `insert into secrets.secrets (id, mount_id, path, current_version)
     select id, $2, path, 1 from unnest($1::uuid[], $3::text[]) n(id, path)`,
    [column('id'), mount.id, column('path')],
  );
  await db.query(
    `insert into secrets.versions (secret_id, version, id, sealed, created_at)
     select *, now() from (select id, 1, version_id, sealed from unnest($1::uuid[], $2::uuid[], $3::bytea[]) n(id, version_id, sealed)) v`,
    [column('id'), column('versionId'), column('sealed')],
  );
}

const paths = (count: number, prefix = 's') => Array.from({ length: count }, (_, n) => `${prefix}${n}`);

async function keysInUse(): Promise<string[]> {
  const rows = await db.query<{ sealed: Uint8Array | null }>('select sealed from secrets.versions');
  return [...new Set(rows.flatMap(({ sealed }) => (sealed === null ? [] : [sealedWith(sealed)])))].sort();
}

async function recordedKeys(): Promise<string[]> {
  const rows = await db.query<{ id: string }>('select id from secrets.seal_keys order by id');
  return rows.map(({ id }) => id);
}

async function untilIdle(rotation: SealRotation, max = 100): Promise<number> {
  for (let pages = 0; pages < max; pages += 1) if ((await rotation.advance()) === 'idle') return pages;
  throw new Error(`not idle after ${max} pages`);
}

/** Locks rows in a transaction of its own until the returned function is called. */
async function holdRow(statement: string): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const request = db.transaction(async (tx) => {
    await tx.query(statement);
    locked.resolve();
    await release.promise;
  });
  await locked.promise;
  return async () => {
    release.resolve();
    await request;
  };
}

async function readPath(path: string, keyRing: KeyRing): Promise<unknown> {
  const context = { keyRing, versions: { find: versionReader(db) } } as Parameters<typeof readValue>[0];
  const { value } = await readValue(context, mount, path, 0);
  return value?.reveal().path;
}

test('after a rotation nothing is encrypted with the older key, which is then no longer needed', async () => {
  await started(older);
  await insertSecrets(paths(450), older);
  const rotation = await started(both);
  await rotation.begin();
  await untilIdle(rotation);
  expect(await keysInUse()).toEqual(['k2']);
  expect(await recordedKeys()).toEqual(['k2']);
  expect(await readPath('s7', ring(k2))).toBe('s7');
  const { rotation: row } = await rotation.status();
  expect(row).toMatchObject({ keyId: 'k2', checked: 450, encrypted: 450, unreadable: 0 });
  expect(row?.finishedAt).toBeInstanceOf(Date);
  await expect(started(ring(k2))).resolves.toBeInstanceOf(SealRotation);
});

test('a process that dies in a page leaves it as it was, and another one continues with the same page', async () => {
  await started(older);
  await insertSecrets(paths(450), older);
  const rotation = await started(both);
  await rotation.begin();
  await rotation.advance();
  const dying: Db = {
    ...db,
    query: db.query.bind(db),
    transaction: (work) =>
      db.transaction(async (tx) => {
        await work(tx);
        throw new Error('killed');
      }),
  };
  await expect(rotationWith(both, 0, dying).advance()).rejects.toThrow('killed');
  expect((await rotation.status()).rotation).toMatchObject({ checked: 200, encrypted: 200 });
  expect(await keysInUse()).toEqual(['k1', 'k2']);
  for (const path of ['s0', 's210', 's449']) expect(await readPath(path, both)).toBe(path);
  await untilIdle(await started(both));
  expect((await rotation.status()).rotation).toMatchObject({ checked: 450, encrypted: 450 });
  expect(await keysInUse()).toEqual(['k2']);
});

test('one process at a time works on a rotation', async () => {
  await started(older);
  await insertSecrets(paths(10), older);
  const rotation = await started(both);
  await rotation.begin();
  const release = await holdRow('select 1 from secrets.seal_rotation for update');
  expect(await rotation.advance()).toBe('idle');
  await release();
  expect(await rotation.advance()).toBe('page');
});

test('a service does not start without a key that may be needed, and says which', async () => {
  await started(older);
  await expect(started(ring(k2))).rejects.toThrow(/^the seal key k1 is missing from the key file/);
  const rotation = await started(both);
  await expect(started(older)).rejects.toThrow(/^the seal key k2 is missing/);
  await rotation.begin();
  await expect(started(ring(k2))).rejects.toThrow(/^the seal key k1 is missing/);
  await untilIdle(rotation);
  await started(ring(k2));
});

test('a service does not start with another key under the same id', async () => {
  await started(older);
  await expect(started(ring(line('k1')))).rejects.toThrow(/^the seal key k1 in the key file is not the one/);
  await expect(started(ring(`${k1} bound`))).rejects.toThrow(/not the one .* the word "bound"/);
});

test('the first start records all keys of the file, because earlier versions recorded none', async () => {
  await insertSecrets(['a'], older);
  await started(both);
  expect(await recordedKeys()).toEqual(['k1', 'k2']);
});

test('a key that was recorded a moment ago is not written again, and later it is', async () => {
  await started(older);
  const usedSince = (age: string) =>
    db.query(`select from secrets.seal_keys where id = 'k1' and used_at > now() - $1::interval`, [age]);
  const recordedAgo = (age: string) =>
    db.query(`update secrets.seal_keys set used_at = now() - $1::interval`, [age]);
  await recordedAgo('1 minute');
  await recordSealKeys(db, 'secrets', older, { freshSeconds: 3_600 });
  expect(await usedSince('1 minute')).toHaveLength(0);
  await recordedAgo('2 hours');
  await recordSealKeys(db, 'secrets', older, { freshSeconds: 3_600 });
  expect(await usedSince('1 minute')).toHaveLength(1);
});

test('a rotation does not finish while another process encrypts with the older key', async () => {
  await started(older);
  await insertSecrets(['a'], older);
  const rotation = await started(both, 30);
  await rotation.begin();
  await untilIdle(rotation);
  expect(await keysInUse()).toEqual(['k2']);
  expect((await rotation.status()).rotation).toMatchObject({ finishedAt: null });
  await insertSecrets(['late'], older); // by a process that has not read the new key yet
  expect(await rotation.advance()).toBe('idle');
  await db.query(`update secrets.seal_keys set used_at = now() - interval '31 seconds' where id = 'k1'`);
  await untilIdle(rotation);
  expect(await keysInUse()).toEqual(['k2']);
  expect(await recordedKeys()).toEqual(['k2']);
});

test('a row that a request has locked is not waited for, and is encrypted in another pass', async () => {
  await started(older);
  await insertSecrets(paths(3), older);
  const rotation = await started(both);
  await rotation.begin();
  const release = await holdRow(
    `select 1 from secrets.versions v join secrets.secrets s on s.id = v.secret_id where s.path = 's1' for update of v`,
  );
  expect(await rotation.advance()).toBe('page');
  expect((await rotation.status()).rotation).toMatchObject({ encrypted: 2, finishedAt: null });
  await release();
  await untilIdle(rotation);
  expect(await keysInUse()).toEqual(['k2']);
});

test('a value that cannot be decrypted is reported, and its key stays recorded', async () => {
  await started(older);
  await insertSecrets(paths(3), older);
  await db.query(
    `update secrets.versions set sealed = set_byte(sealed, 90, 255 - get_byte(sealed, 90)) where secret_id = (select id from secrets.secrets where path = 's1')`,
  );
  const rotation = await started(both);
  await rotation.begin();
  await untilIdle(rotation);
  expect((await rotation.status()).rotation).toMatchObject({ encrypted: 2, unreadable: 1 });
  expect(await recordedKeys()).toEqual(['k1', 'k2']);
  expect(logs.join()).toMatch(/secrets\.versions.*a value cannot be decrypted/);
});

test('large values make smaller pages', async () => {
  await started(older);
  await insertSecrets(paths(12), older, 1_000_000);
  const rotation = await started(both);
  await rotation.begin();
  await rotation.advance();
  expect((await rotation.status()).rotation).toMatchObject({ encrypted: 4 });
  await untilIdle(rotation);
  expect(await keysInUse()).toEqual(['k2']);
});

test('beginning again changes nothing while it is in progress, nor when it is finished', async () => {
  await started(older);
  await insertSecrets(paths(250), older);
  const rotation = await started(both);
  await rotation.begin();
  await rotation.advance();
  const before = (await rotation.status()).rotation;
  await rotation.begin();
  expect((await rotation.status()).rotation).toEqual(before);
  await untilIdle(rotation);
  const finished = (await rotation.status()).rotation;
  await rotation.begin();
  expect((await rotation.status()).rotation).toEqual(finished);
});

test('a newer key replaces the one of an unfinished rotation', async () => {
  await started(older);
  await insertSecrets(paths(250), older);
  const rotation = await started(both);
  await rotation.begin();
  await rotation.advance();
  const newer = await started(ring(k3, k2, k1));
  await newer.begin();
  expect(await rotation.advance()).toBe('idle'); // its process still encrypts with k2
  await untilIdle(newer);
  expect(await keysInUse()).toEqual(['k3']);
  expect(await recordedKeys()).toEqual(['k3']);
});
