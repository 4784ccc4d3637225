import { randomBytes } from 'node:crypto';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openPostgres } from '@secrets/db';
import { createTestDb, type TestDb } from '@secrets/db/testing';
import { ensureRootToken } from '@secrets/login';
import { openTestDb } from '@secrets/schemas/testing';
import { readKeyRing } from '@secrets/seal';
import { recordSealKeys } from '@secrets/seal-rotation';
import { silentLogger } from '@secrets/telemetry';
import type { Manifest } from '../../src/backup/archive/manifest.ts';
import { readArchive, readText } from '../../src/backup/archive/read-archive.ts';
import { type Member, writeArchive } from '../../src/backup/archive/write-archive.ts';
import { backup } from '../../src/backup/backup.ts';
import { hasSchemas } from '../../src/backup/database/describe-database.ts';
import { restore } from '../../src/backup/restore.ts';
import { readSettingsFiles } from '../../src/backup/settings-files.ts';
import { verifyBackup } from '../../src/backup/verify-backup.ts';
import {
  backUp,
  check,
  contentOf,
  decrypter,
  keyFile,
  passphrase,
  quickEncrypter,
  restoreInto,
  run,
} from './archive-for-test.ts';

const log = silentLogger();
let folder: string;
let db: TestDb;
let target: TestDb;
let file: string;
let keys: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'backup-'));
  [db, target] = [await openTestDb(), await createTestDb()];
  keys = [keyFile(join(folder, 'seal.key'))];
  keyFile(join(folder, 'row.key'));
  const ring = readKeyRing(keys[0]!);
  for (const schema of ['login', 'secrets', 'sync'] as const) await recordSealKeys(db, schema, ring);
  const rowKeys = readKeyRing(join(folder, 'row.key'));
  await ensureRootToken(db, { file: join(folder, 'root-token'), rowKeys });
  file = join(folder, 'good.age');
  await backUp(db.url, file);
});
afterAll(async () => {
  await db.close();
  await target.close();
  rmSync(folder, { recursive: true });
});

const newFile = (): string => join(folder, `${randomBytes(6).toString('hex')}.age`);

/** Writes an archive like the good one, with a changed manifest and changed members. */
async function craft(
  change: (manifest: Manifest) => unknown,
  changeMember: (member: Member) => Member | undefined = (member) => member,
): Promise<string> {
  const members: Member[] = [];
  await readArchive(file, decrypter(), async (found) => {
    for await (const member of found) {
      const text = await readText(member, 10_000_000);
      const content = members.length > 0 ? text : JSON.stringify(change(JSON.parse(text)));
      const changed = changeMember({ name: member.name, content: Buffer.from(content) });
      if (changed !== undefined) members.push(changed);
    }
  });
  const crafted = newFile();
  await writeArchive(crafted, quickEncrypter(), ReadableStream.from(members));
  return crafted;
}

function altered(change: (bytes: Buffer) => Buffer): string {
  const name = newFile();
  writeFileSync(name, change(readFileSync(file)));
  return name;
}

/** Expects that a restore fails with this sentence, and that the database is still empty. */
async function expectRefused(archive: string, sentence: RegExp, sealKeys = keys): Promise<void> {
  await expect(restoreInto(target.url, archive, sealKeys)).rejects.toThrow(sentence);
  expect(await hasSchemas(target)).toBe(false);
}

test('refuses a file that is missing, no archive of age, or one of something else', async () => {
  await expectRefused(join(folder, 'nothing'), /nothing does not exist/);
  await expectRefused(
    altered(() => Buffer.from('PGDMP')),
    /is not a backup of this service/,
  );
  const other = newFile();
  await writeArchive(
    other,
    quickEncrypter(),
    ReadableStream.from([{ name: 'a', content: Buffer.from('b') }]),
  );
  await expectRefused(other, /is not a backup of this service/);
  await expectRefused(await craft(() => ({ format: 'other' })), /is not a backup of this service/);
});

test('refuses another passphrase', async () => {
  await expect(check(file, keys, 'another passphrase')).rejects.toThrow(
    /was not encrypted for this identity or passphrase/,
  );
});

test.each([0.2, 0.5, 0.9, 0.999])(
  'refuses an archive in which a byte was changed, or that ends, after %d of it',
  async (part) => {
    const at = (bytes: Buffer) => Math.floor(bytes.length * part);
    const changed = altered((bytes) => {
      bytes[at(bytes)]! ^= 1;
      return bytes;
    });
    await expectRefused(changed, /damaged or truncated/);
    await expectRefused(
      altered((bytes) => bytes.subarray(0, at(bytes))),
      /damaged or truncated/,
    );
  },
);

test('refuses an archive of a newer format or of newer schemas', async () => {
  const newerFormat = await craft((manifest) => ({ ...manifest, formatVersion: 2 }));
  await expectRefused(newerFormat, /newer version of the service: its format is version 2/);
  const newerSchema = await craft((manifest) => {
    manifest.schemas.sync.version += 1;
    return manifest;
  });
  await expectRefused(newerSchema, /newer version of the service: its schema sync has version \d+/);
});

test('refuses an archive with other migrations, tables or columns than this program creates', async () => {
  const sentence = /other migrations or tables/;
  const migrations = await craft((manifest) => {
    manifest.schemas.login.migrations = 'f'.repeat(64);
    return manifest;
  });
  await expectRefused(migrations, sentence);
  const injected = await craft((manifest) => {
    manifest.tables[0]!.columns[0] = "id\") from program 'touch /tmp/x' --";
    return manifest;
  });
  await expectRefused(injected, sentence);
});

test('refuses an archive that lacks rows, or has more members than its manifest lists', async () => {
  const sentence = /does not contain what its manifest lists/;
  const [isTokens, unchanged] = [/^data\/login\.tokens\//, (manifest: Manifest) => manifest];
  await expectRefused(
    await craft(unchanged, (member) => (isTokens.test(member.name) ? undefined : member)),
    sentence,
  );
  await expectRefused(
    await craft((manifest) => ({
      ...manifest,
      tables: manifest.tables.filter(({ name }) => name !== 'tokens'),
    })),
    sentence,
  );
});

test('refuses the wrong seal key, one that is missing, and one that lacks the word "bound"', async () => {
  const sentence = /the seal keys of the schema login \(k1\) are not those in .*\.key/;
  await expectRefused(file, sentence, [keyFile(join(folder, 'other.key'))]);
  const unbound = join(folder, 'unbound.key');
  writeFileSync(unbound, readFileSync(keys[0]!, 'utf8').replace(' bound', ''));
  await expectRefused(file, sentence, [unbound]);
  await restoreInto(target.url, file, [unbound, ...keys]); // one of several files has the key
  await target.query('drop schema login, secrets, sync cascade');
});

test('restores into a database with data only if it may replace it, and never while a service is connected', async () => {
  await restoreInto(target.url, file, keys);
  const content = await contentOf(target.url);
  await target.query('truncate login.tokens cascade');
  await expect(restoreInto(target.url, file, keys)).rejects.toThrow(
    /has data of the service.*RESTORE_REPLACES/,
  );
  const archive = await check(file, keys);
  const service = openPostgres({ url: target.url, connections: 1, applicationName: 'standalone requests' });
  await service.query('select 1');
  const replacing = () => restore(archive, { databaseUrl: target.url, replaces: true, log });
  await expect(replacing()).rejects.toThrow(
    /services use the database: stop them first \(standalone requests\)/,
  );
  expect(await target.query('select from login.tokens')).toEqual([]);
  await service.close();
  // An installation in which all services use the owner's role.
  const worker = openPostgres({ url: target.url, connections: 1, applicationName: 'secrets background' });
  await worker.query('select 1');
  await expect(replacing()).rejects.toThrow(/stop them first \(secrets background\)/);
  await worker.close();
  await replacing();
  expect(await contentOf(target.url)).toEqual(content);
  await target.query('drop schema login, secrets, sync cascade');
});

test('refuses an archive that is replaced after it was checked', async () => {
  const replaced = newFile();
  copyFileSync(file, replaced);
  const archive = await check(replaced, keys);
  copyFileSync(await craft((manifest) => ({ ...manifest, createdAt: '2020-01-01T00:00:00.000Z' })), replaced);
  await expect(restore(archive, { databaseUrl: target.url, replaces: false, log })).rejects.toThrow(
    /was replaced while it was read/,
  );
  expect(await hasSchemas(target)).toBe(false);
});

test('refuses an archive with more files of settings than fit into memory', async () => {
  const settings = Array.from({ length: 101 }, (_, at) => ({ name: `${at}.env`, bytes: 1 }));
  await expectRefused(
    await craft((manifest) => ({ ...manifest, settings })),
    /is not a backup of this service/,
  );
});

test('the command restores nothing if a file of settings exists', async () => {
  const [env, place, archive] = [join(folder, '.env'), join(folder, 'settings'), newFile()];
  mkdirSync(place);
  for (const path of [env, join(place, '.env')]) writeFileSync(path, 'A=1\n');
  const settings = readSettingsFiles([env]);
  await backup({ databaseUrl: db.url, file: archive, encrypter: quickEncrypter(), settings, log });
  const restoring = run('restore', {
    ...{ DATABASE_URL: target.url, DATA_DIR: folder, BACKUP_FILE: archive, BACKUP_PASSPHRASE: passphrase },
    RESTORE_SETTINGS_DIR: place,
  });
  await expect(restoring).rejects.toMatchObject({
    stdout: expect.stringMatching(/\.env exists; set RESTORE/),
  });
  expect(await hasSchemas(target)).toBe(false);
  rmSync(env); // the last test looks for drafts
});

test('the command refuses the wrong row key, and changes nothing', async () => {
  const other = keyFile(join(folder, 'other-row.key'));
  const env = {
    DATABASE_URL: target.url,
    DATA_DIR: folder,
    BACKUP_FILE: file,
    BACKUP_PASSPHRASE: passphrase,
  };
  await expect(run('restore', { ...env, ROW_KEY_FILE: other })).rejects.toMatchObject({
    stdout: expect.stringMatching(/the row key is not the one of this backup/),
  });
  expect(await hasSchemas(target)).toBe(false);
});

test('a verification finds rows that were changed and values that cannot be decrypted, and drops its database', async () => {
  const rowKeys = readKeyRing(join(folder, 'row.key'));
  const verify = async (archive: string) =>
    verifyBackup(await check(archive, keys), { databaseUrl: db.url, rowKeys, log });
  expect(await verify(file)).toMatchObject({ boundRows: 1 });
  const promoted = await craft(
    (manifest) => manifest,
    ({ name, content }) => ({
      name,
      content: /login\.tokens/.test(name)
        ? Buffer.from(String(content).replace('{root}', '{admin}'))
        : content,
    }),
  );
  await expect(verify(promoted)).rejects.toThrow(
    /1 rows that decide about access are not as login has written them/,
  );
  const sealed = openPostgres({ url: db.url, connections: 1 });
  await sealed.query(
    `insert into login.identity_keys (id, sealed_private_key, public_jwk, state) values ('a', '\\x00', '{}', 'current')`,
  );
  const unreadable = newFile();
  await backUp(db.url, unreadable);
  await sealed.query(`delete from login.identity_keys where id = 'a'`).finally(sealed.close);
  await expect(verify(unreadable)).rejects.toThrow(
    /1 of the values in login.identity_keys .* cannot be decrypted/,
  );
  expect(
    await db.query(
      `select from pg_database where datname like (select format('verify_backup_%s_%%', oid) from pg_database where datname = current_database())`,
    ),
  ).toEqual([]);
});

test('backup refuses a database without data, a file that exists, keys among the settings, and weak or unclear encryption', async () => {
  await expect(backUp(target.url, newFile())).rejects.toThrow(/has no data of this service/);
  const existing = newFile();
  copyFileSync(file, existing);
  await expect(backUp(db.url, existing)).rejects.toThrow(/exists; set BACKUP_FILE to a new file/);
  expect(readFileSync(existing).equals(readFileSync(file))).toBe(true);
  const secret = randomBytes(12).toString('hex');
  const refused = async (env: Record<string, string>, sentence: RegExp) => {
    const failed = await run('backup', { DATABASE_URL: db.url, BACKUP_FILE: newFile(), ...env }).catch(
      (error: unknown) => error as { stdout: string },
    );
    expect(failed.stdout).toMatch(sentence);
    expect(failed.stdout).not.toContain(secret);
  };
  await refused({}, /set either BACKUP_RECIPIENTS, or BACKUP_PASSPHRASE_FILE/);
  await refused({ BACKUP_PASSPHRASE: 'too short' }, /at least 16 characters/);
  await refused(
    { BACKUP_RECIPIENTS: `AGE-SECRET-KEY-1${secret}` },
    /part 1 of BACKUP_RECIPIENTS is not a public key/,
  );
  await refused({ BACKUP_PASSPHRASE: passphrase, BACKUP_SETTINGS_FILES: keys[0]! }, /is a file of keys/);
  expect(readdirSync(folder).filter((name) => name.startsWith('.'))).toEqual([]);
});
