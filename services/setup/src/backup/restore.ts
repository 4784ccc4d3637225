import { isDeepStrictEqual } from 'node:util';
import { type CopySession, latestVersion, migrateTo, openCopySession } from '@secrets/db';
import { serviceSchemas } from '@secrets/schemas';
import type { Sealed } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { Decrypter } from 'age-encryption';
import { databaseServices, roleOf } from '../database-roles.ts';
import { ArchiveError } from './archive/archive-error.ts';
import type { Manifest, SchemaName } from './archive/manifest.ts';
import { ArchiveReader, countLines } from './archive/members.ts';
import { readArchive } from './archive/read-archive.ts';
import { hasSchemas, schemaNames } from './database/describe-database.ts';
import { loadDatabase } from './database/load-database.ts';
import { Progress } from './progress.ts';
import { findSealKeys, type KeyFiles, type SealKeys } from './seal-keys-of-archive.ts';
import type { SettingsFile } from './settings-files.ts';

export interface Archive {
  file: string;
  decrypter: Sealed<Decrypter>;
}

/** An archive that can be restored here. */
export interface CheckedArchive extends Archive {
  manifest: Manifest;
  sealKeys: SealKeys;
  settings: SettingsFile[];
}

const newestVersions = (): Record<SchemaName, number> =>
  Object.fromEntries(serviceSchemas.map(({ schema, folder }) => [schema, latestVersion(folder)])) as Record<
    SchemaName,
    number
  >;

/**
 * Reads the whole archive without changing anything.
 * @throws {ArchiveError} if it cannot be decrypted, is damaged, comes from a newer version, or belongs to other seal keys
 */
export const checkArchive = (archive: Archive, keyFiles: KeyFiles, log: Logger): Promise<CheckedArchive> =>
  readArchive(archive.file, archive.decrypter, async (members) => {
    const reader = await ArchiveReader.open(members);
    const manifest = await reader.manifest(newestVersions());
    const sealKeys = findSealKeys(keyFiles, manifest);
    const settings: SettingsFile[] = [];
    await reader.settings(manifest, (name, text) => settings.push({ name, content: Buffer.from(text) }));
    const progress = new Progress(log, 'checking the archive');
    await reader.tables(manifest, ({ schema, name }, rows) =>
      countLines(progress.count(`${schema}.${name}`, rows)),
    );
    return { ...archive, manifest, sealKeys, settings };
  });

export interface RestoreOptions {
  databaseUrl: string;
  /** Whether the data of the service that the database has is deleted first, in the same transaction. */
  replaces: boolean;
  /** Called with the rows as they are in the archive, before its schemas are migrated to the newest version. */
  onLoaded?: (session: CopySession) => Promise<void>;
  /** Called before anything is committed. */
  verify?: (session: CopySession) => Promise<void>;
  log: Logger;
}

/**
 * Loads a checked archive into a database and migrates it, in one transaction: if anything fails or the process dies, nothing has
 * changed.
 * @throws {ArchiveError} if the database has data of the service, unless it is to be replaced, or a service is connected
 */
export async function restore(
  { file, decrypter, manifest }: CheckedArchive,
  { databaseUrl, replaces, onLoaded, verify, log }: RestoreOptions,
): Promise<void> {
  const session = await openCopySession(databaseUrl, 'setup restore');
  try {
    await session.script('begin');
    await emptyDatabase(session, replaces);
    await readArchive(file, decrypter, async (members) => {
      const reader = await ArchiveReader.open(members);
      // Somebody else may write to the folder of the archives.
      if (!isDeepStrictEqual(await reader.manifest(newestVersions()), manifest))
        throw new ArchiveError(`${file} was replaced while it was read`);
      await reader.settings(manifest, () => undefined);
      const progress = new Progress(log, 'restoring');
      await loadDatabase(session, manifest, (take) =>
        reader.tables(manifest, (table, rows) =>
          take(table, progress.count(`${table.schema}.${table.name}`, rows)),
        ),
      );
    });
    await onLoaded?.(session);
    for (const migrations of serviceSchemas)
      await migrateTo(session, migrations, latestVersion(migrations.folder));
    await verify?.(session);
    await session.script('commit');
  } finally {
    await session.close();
  }
}

async function emptyDatabase(session: CopySession, replaces: boolean): Promise<void> {
  await session.query("select pg_advisory_xact_lock(hashtextextended('restore', 0))");
  const users = await connectedServices(session);
  if (users.length > 0)
    throw new ArchiveError(`services use the database: stop them first (${users.join(', ')})`);
  if (!(await hasSchemas(session))) return;
  if (!replaces)
    throw new ArchiveError(
      'the database has data of the service: restore into an empty database, or set RESTORE_REPLACES=on to delete that data',
    );
  await session.script(`drop schema if exists ${schemaNames.join(', ')} cascade`);
}

/**
 * Services by the roles of their connections, or by their names, if all use the owner's role. The names of others are only
 * visible to some roles.
 */
async function connectedServices(session: CopySession): Promise<string[]> {
  const rows = await session.query<{ name: string }>(
    `select distinct coalesce(nullif(application_name, ''), usename) as name from pg_stat_activity
      where datname = current_database() and (usename = any($1) or split_part(application_name, ' ', 1) = any($2)) order by 1`,
    [databaseServices.map(roleOf), ['standalone', ...databaseServices]],
  );
  return rows.map(({ name }) => name);
}
