import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readConfig, withFiles } from '@secrets/config';
import { openKeyServices } from '@secrets/key-service';
import { type KeyRing, openKeyFile } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import { checkRows } from '../database/check-rows.ts';
import { type OpenedDatabase, openAlone, openForReading } from '../database/embedded-database.ts';
import { decrypterOf, encrypterOf } from './archive/age-keys.ts';
import { ArchiveError } from './archive/archive-error.ts';
import { totalRows } from './archive/manifest.ts';
import { removeDrafts } from './archive/write-archive.ts';
import { backup } from './backup.ts';
import { BackupEnv, RestoreEnv } from './config.ts';
import { type CheckedArchive, checkArchive, restore } from './restore.ts';
import { prepareSettingsFolder, readSettingsFiles, writeSettingsFiles } from './settings-files.ts';
import { verifyBackup } from './verify-backup.ts';

const secretVariables = ['DATABASE_URL', 'BACKUP_PASSPHRASE', 'BACKUP_IDENTITY'];

type Environment = Parameters<typeof withFiles>[0];

/** Names that sort by time. */
const archivePattern = /^secrets-backup-\d{8}T\d{6}Z\.age$/;

const archiveName = (now: Date): string =>
  `secrets-backup-${now.toISOString().replaceAll(/[-:]|\.\d+/g, '')}.age`;

const keysToKeep = (dataDir: string | undefined): string[] =>
  dataDir === undefined
    ? ['the folder setup of the keys', 'every key file that was changed, for example by a rotation']
    : ['seal.key', 'row.key', 'internal.key', 'root-token'].map((name) => join(resolve(dataDir), name));

/** The command `backup`. */
export async function runBackup(environment: Environment, log: Logger): Promise<void> {
  const env = readConfig(BackupEnv, withFiles(environment, secretVariables));
  const file = resolve(env.BACKUP_FILE ?? join(env.BACKUP_DIR, archiveName(new Date())));
  const encrypter = encrypterOf(env);
  const settings = readSettingsFiles(env.BACKUP_SETTINGS_FILES);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  removeDrafts(dirname(file), Date.now());
  const database = await openForReading(env);
  const { rows } = await closing(database, ({ url }) =>
    backup({ databaseUrl: url, file, encrypter, settings, log }),
  );
  log.info({ file, rows }, 'the backup is complete');
  log.warn(
    { keep: keysToKeep(env.DATABASE_URL === undefined ? env.DATA_DIR : undefined) },
    'the archive contains no keys, and is of no use without them: keep these files in another place',
  );
  if (env.BACKUP_KEEP !== undefined) removeOld(dirname(file), env.BACKUP_KEEP, log);
}

function removeOld(folder: string, kept: number, log: Logger): void {
  const names = readdirSync(folder).filter((name) => archivePattern.test(name));
  for (const name of names.sort().slice(0, -kept)) {
    rmSync(join(folder, name));
    log.info({ file: join(folder, name) }, 'removed an old backup');
  }
}

/** The command `restore`. */
export async function runRestore(environment: Environment, log: Logger): Promise<void> {
  const env = readConfig(RestoreEnv, withFiles(environment, secretVariables));
  const rowKeys = await openKeyFile(rowKeyFile(env), openKeyServices(env).unwrap);
  const archive = await checked(env, log);
  if (env.RESTORE_SETTINGS_DIR !== undefined)
    prepareSettingsFolder(env.RESTORE_SETTINGS_DIR, archive.settings);
  const database = await openAlone(env);
  const verify = (session: Parameters<typeof checkRows>[0]) => requireRowKey(session, rowKeys, log);
  await closing(database, ({ url }) =>
    restore(archive, { databaseUrl: url, replaces: env.RESTORE_REPLACES, verify, log }),
  );
  if (env.RESTORE_SETTINGS_DIR !== undefined) writeSettingsFiles(env.RESTORE_SETTINGS_DIR, archive.settings);
  const { createdAt } = archive.manifest;
  log.info({ createdAt, rows: totalRows(archive.manifest) }, 'the database is restored');
  log.warn('prepare the database before the services start; syncing is held until it is confirmed');
}

/** The command `verify-backup`. */
export async function runVerifyBackup(environment: Environment, log: Logger): Promise<void> {
  const env = readConfig(RestoreEnv, withFiles(environment, secretVariables));
  const rowKeys = await openKeyFile(rowKeyFile(env), openKeyServices(env).unwrap);
  const archive = await checked(env, log);
  const database = await openForReading(env);
  const verified = await closing(database, ({ url }) =>
    verifyBackup(archive, { databaseUrl: url, rowKeys, log }),
  );
  log.info({ createdAt: archive.manifest.createdAt, ...verified }, 'the backup can be restored');
}

async function checked(env: RestoreEnv, log: Logger): Promise<CheckedArchive> {
  const archive = { file: resolve(env.BACKUP_FILE), decrypter: decrypterOf(env) };
  const files = env.SEAL_KEY_FILES ?? [join(resolve(env.DATA_DIR), 'seal.key')];
  for (const file of files) requireFile(file, 'a seal key', 'SEAL_KEY_FILES');
  const { unwrap } = openKeyServices(env);
  const opened = files.map(async (one) => [one, await openKeyFile(one, unwrap)] as const);
  return checkArchive(archive, new Map(await Promise.all(opened)), log);
}

function rowKeyFile({ ROW_KEY_FILE, DATA_DIR }: RestoreEnv): string {
  const file = ROW_KEY_FILE ?? join(resolve(DATA_DIR), 'row.key');
  requireFile(file, 'the row key of login', 'ROW_KEY_FILE');
  return file;
}

function requireFile(file: string, what: string, variable: string): void {
  if (!existsSync(file))
    throw new ArchiveError(`${file}, ${what}, does not exist: put it back, or set ${variable}`);
}

/** Without the right row key, no service would accept any token. Single rows that were changed are not its fault. */
async function requireRowKey(
  session: Parameters<typeof checkRows>[0],
  rowKeys: KeyRing,
  log: Logger,
): Promise<void> {
  const { changed, keys } = await checkRows(session, rowKeys, {
    onListed: ({ table, name, state }) => log.debug({ table, name, state }, 'a row is not as it should be'),
  });
  if (changed === 0) return;
  if (Object.keys(keys).length === 0)
    throw new ArchiveError(
      'the row key is not the one of this backup: put back the key file that belongs to it',
    );
  log.warn(
    { changed },
    'rows that decide about access are not as login has written them; list them with rows',
  );
}

async function closing<T>(
  database: OpenedDatabase,
  use: (database: OpenedDatabase) => Promise<T>,
): Promise<T> {
  try {
    return await use(database);
  } finally {
    await database.close();
  }
}
