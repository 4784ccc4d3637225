import { randomBytes } from 'node:crypto';
import { type CopySession, openCopySession, openPostgres, type Sql } from '@secrets/db';
import { sealedTables as inLogin } from '@secrets/login/sealed-tables';
import type { KeyRing } from '@secrets/seal';
import { openSample } from '@secrets/seal-rotation';
import { sealedTables as inSecrets } from '@secrets/secrets/sealed-tables';
import { sealedTables as inSync } from '@secrets/sync-control/sealed-tables';
import type { Logger } from '@secrets/telemetry';
import { checkRows } from '../database/check-rows.ts';
import { ArchiveError } from './archive/archive-error.ts';
import { totalRows } from './archive/manifest.ts';
import { countRows, schemaNames } from './database/describe-database.ts';
import { type CheckedArchive, restore } from './restore.ts';
import type { SealKeys } from './seal-keys-of-archive.ts';

export interface VerifyOptions {
  /** A server whose user may create databases. */
  databaseUrl: string;
  rowKeys: KeyRing;
  log: Logger;
}

export interface Verified {
  rows: number;
  /** Values that were decrypted. */
  opened: number;
  /** Rows that decide about access and are as login has written them. */
  boundRows: number;
}

const sealedTables = { login: inLogin, secrets: inSecrets, sync: inSync };

/**
 * Restores a checked archive into a new database on the server, counts its rows, checks those that decide about access, and
 * decrypts a sample. The database is dropped afterwards; one that a killed process has left, by the next call.
 * @throws {ArchiveError} with what is wrong
 */
export async function verifyBackup(
  archive: CheckedArchive,
  { databaseUrl, rowKeys, log }: VerifyOptions,
): Promise<Verified> {
  const admin = await openCopySession(databaseUrl, 'setup verify-backup');
  try {
    const prefix = await lockedPrefix(admin);
    await dropLeftovers(admin, prefix);
    const name = `${prefix}${randomBytes(8).toString('hex')}`;
    await create(admin, name);
    const scratchUrl = Object.assign(new URL(databaseUrl), { pathname: `/${name}` }).toString();
    try {
      let boundRows = 0;
      await restore(archive, {
        databaseUrl: scratchUrl,
        replaces: false,
        onLoaded: (session) => requireCounts(session, archive.manifest.tables),
        verify: async (session) => {
          boundRows = await requireRows(session, rowKeys, log);
        },
        log,
      });
      const opened = await requireOpened(scratchUrl, archive.sealKeys);
      return { rows: totalRows(archive.manifest), opened, boundRows };
    } finally {
      await admin.script(`drop database if exists ${name} with (force)`);
    }
  } finally {
    await admin.close();
  }
}

const create = (admin: CopySession, name: string): Promise<void> =>
  admin.script(`create database ${name} template template0`).catch((error: unknown) => {
    throw new Error('the scratch database could not be created: the user of DATABASE_URL needs CREATEDB', {
      cause: error,
    });
  });

/**
 * Returns how the names of scratch databases begin that belong to the database of this connection, and keeps others from creating
 * or dropping them as long as it is open.
 */
async function lockedPrefix(admin: CopySession): Promise<string> {
  const [row] = await admin.query<{ prefix: string; isLocked: boolean }>(
    `select format('verify_backup_%s_', oid) as prefix, pg_try_advisory_lock(hashtextextended('verify backup', 0)) as "isLocked"
       from pg_database where datname = current_database()`,
  );
  if (row?.isLocked !== true) throw new ArchiveError('another verification of a backup is running');
  return row.prefix;
}

async function dropLeftovers(admin: CopySession, prefix: string): Promise<void> {
  const rows = await admin.query<{ name: string }>(
    `select datname as name from pg_database d where datname ~ $1 and pg_has_role(d.datdba, 'usage')
        and not exists (select from pg_stat_activity a where a.datid = d.oid)`,
    [`^${prefix}[0-9a-f]{16}$`],
  );
  for (const { name } of rows) await admin.script(`drop database if exists ${name}`).catch(() => undefined);
}

async function requireCounts(sql: Sql, tables: CheckedArchive['manifest']['tables']): Promise<void> {
  for (const [index, { schema, name, rows }] of (await countRows(sql, tables)).entries())
    if (rows !== tables[index]!.rows)
      throw new ArchiveError(
        `${schema}.${name} has ${rows} rows, and the manifest lists ${tables[index]!.rows}`,
      );
}

async function requireRows(sql: Sql, rowKeys: KeyRing, log: Logger): Promise<number> {
  const { changed, noHash, keys } = await checkRows(sql, rowKeys, {
    onListed: ({ table, name, state }) => log.warn({ table, name, state }, 'a row is not as it should be'),
  });
  if (changed > 0 || (noHash > 0 && rowKeys.current.isBound))
    throw new ArchiveError(
      `${changed} rows that decide about access are not as login has written them, and ${noHash} have no hash: ` +
        'they were changed, or the row key is not the one of this backup',
    );
  return Object.values(keys).reduce((sum, count) => sum + count, 0);
}

async function requireOpened(scratchUrl: string, sealKeys: SealKeys): Promise<number> {
  const db = openPostgres({ url: scratchUrl, connections: 1, applicationName: 'setup verify-backup' });
  try {
    let opened = 0;
    for (const schema of schemaNames)
      for (const table of sealedTables[schema]) {
        const sample = await db.transaction((tx) => openSample(tx, sealKeys[schema], table));
        if (sample.unreadable.length > 0)
          throw new ArchiveError(
            `${sample.unreadable.length} of the values in ${table.name} that were tried cannot be decrypted`,
          );
        opened += sample.opened;
      }
    return opened;
  } finally {
    await db.close();
  }
}
