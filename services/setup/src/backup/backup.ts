import { type CopySession, openCopySession } from '@secrets/db';
import { productVersion } from '@secrets/gateway/versions';
import { listSealKeys } from '@secrets/seal-rotation';
import type { Logger } from '@secrets/telemetry';
import type { Encrypter } from 'age-encryption';
import { type Manifest, type ManifestTable, manifestOf, totalRows } from './archive/manifest.ts';
import { manifestName, partName, settingsName } from './archive/members.ts';
import { type Member, writeArchive } from './archive/write-archive.ts';
import {
  countRows,
  describeSequences,
  describeTables,
  describeVersions,
  hasSchemas,
  quotedColumns,
  quotedName,
  schemaNames,
} from './database/describe-database.ts';
import { recordBackup } from './database/record-backup.ts';
import { Progress } from './progress.ts';
import type { SettingsFile } from './settings-files.ts';

export interface BackupOptions {
  databaseUrl: string;
  /** A file that does not exist yet. */
  file: string;
  encrypter: Encrypter;
  settings: readonly SettingsFile[];
  log: Logger;
}

const partBytes = 1_048_576;

/**
 * Writes the rows of all schemas, as they are at one moment, and files of settings to an encrypted archive. The services may run.
 * Then it records in the database that this has succeeded. The archive contains no key.
 * @throws if the file exists, or the database is not one of this service
 */
export async function backup(options: BackupOptions): Promise<{ rows: number }> {
  const { databaseUrl, file, encrypter, log } = options;
  const session = await openCopySession(databaseUrl, 'setup backup');
  try {
    await session.script('begin isolation level repeatable read read only');
    const manifest = await describe(session, options);
    await writeArchive(file, encrypter, members(session, manifest, options));
    await session.script('commit');
    await recordBackup(session, manifest.createdAt);
    log.debug({ file }, 'recorded the backup');
    return { rows: totalRows(manifest) };
  } finally {
    await session.close();
  }
}

async function describe(session: CopySession, { settings }: BackupOptions): Promise<Manifest> {
  if (!(await hasSchemas(session))) throw new Error('the database has no data of this service');
  const [{ now }] = (await session.query<{ now: Date }>('select now() as now')) as [{ now: Date }];
  const sealKeys = [];
  for (const schema of schemaNames) {
    const keys = await listSealKeys(session, schema);
    sealKeys.push([schema, keys.map(({ id, fingerprint }) => ({ id, fingerprint }))]);
  }
  return manifestOf({
    productVersion,
    createdAt: now.toISOString(),
    schemas: await describeVersions(session),
    sealKeys: Object.fromEntries(sealKeys) as Manifest['sealKeys'],
    tables: await countRows(session, await describeTables(session)),
    sequences: await describeSequences(session),
    settings: settings.map(({ name, content }) => ({ name, bytes: content.length })),
  });
}

async function* members(
  session: CopySession,
  manifest: Manifest,
  { settings, log }: BackupOptions,
): AsyncGenerator<Member> {
  yield { name: manifestName, content: Buffer.from(JSON.stringify(manifest, undefined, 2)) };
  for (const { name, content } of settings) yield { name: settingsName(name), content };
  const progress = new Progress(log, 'backing up');
  for (const table of manifest.tables) {
    const rows = session.copyOut(`copy ${quotedName(table)} (${quotedColumns(table)}) to stdout`);
    yield* parts(table, progress.count(`${table.schema}.${table.name}`, rows));
  }
}

/** A tar file states the size of a member before its content, so a table is stored in parts. */
async function* parts(table: ManifestTable, rows: AsyncIterable<Uint8Array>): AsyncGenerator<Member> {
  let [chunks, bytes, index]: [Uint8Array[], number, number] = [[], 0, 0];
  for await (const chunk of rows) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < partBytes) continue;
    yield { name: partName(table, index), content: Buffer.concat(chunks) };
    [chunks, bytes, index] = [[], 0, index + 1];
  }
  if (bytes > 0) yield { name: partName(table, index), content: Buffer.concat(chunks) };
}
