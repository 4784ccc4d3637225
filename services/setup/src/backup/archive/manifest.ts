import { z } from 'zod';
import { ArchiveError } from './archive-error.ts';

const schemaNames = ['login', 'secrets', 'sync'] as const;
export type SchemaName = (typeof schemaNames)[number];

/** An archive has few files of settings. */
export const maxSettingsFiles = 100;

/** Raised when an older program could not read the archive. */
const formatVersion = 1;

const count = z.int().nonnegative();

const ManifestTable = z.object({
  schema: z.enum(schemaNames),
  name: z.string(),
  /** In the order of their names, without those that are computed. */
  columns: z.array(z.string()),
  rows: count,
});

/** The first member of an archive: what is in it, and what is needed to use it. */
export const Manifest = z.object({
  format: z.literal('secrets-service-backup'),
  formatVersion: count,
  productVersion: z.string(),
  createdAt: z.iso.datetime(),
  /** The version of each schema, and a hash of the migrations that led to it. */
  schemas: z.record(z.enum(schemaNames), z.object({ version: count, migrations: z.string() })),
  /** The keys with which something may be encrypted. A fingerprint does not reveal its key. */
  sealKeys: z.record(z.enum(schemaNames), z.array(z.object({ id: z.string(), fingerprint: z.string() }))),
  tables: z.array(ManifestTable),
  sequences: z.array(z.object({ schema: z.enum(schemaNames), name: z.string(), last: count })),
  /** Their content is kept in memory. */
  settings: z.array(z.object({ name: z.string(), bytes: count })).max(maxSettingsFiles),
});
export type Manifest = z.infer<typeof Manifest>;
export type ManifestTable = z.infer<typeof ManifestTable>;

/** The part of a manifest that describes the database. */
export type Contents = Omit<Manifest, 'format' | 'formatVersion'>;

export const manifestOf = (contents: Contents): Manifest => ({
  format: 'secrets-service-backup',
  formatVersion,
  ...contents,
});

const Version = Manifest.pick({ format: true, formatVersion: true });

/**
 * Parses the manifest of an archive.
 * @param newest the newest version of each schema that this program knows
 * @throws {ArchiveError} if it is not one, or comes from a newer version of the service
 */
export function parseManifest(text: string, newest: Readonly<Record<SchemaName, number>>): Manifest {
  const json = parseJson(text);
  const version = Version.safeParse(json);
  if (!version.success) throw foreign();
  if (version.data.formatVersion > formatVersion)
    throw newer(
      `its format is version ${version.data.formatVersion}, and this program reads ${formatVersion}`,
    );
  const manifest = Manifest.safeParse(json);
  if (!manifest.success) throw foreign();
  for (const schema of schemaNames) {
    const found = manifest.data.schemas[schema].version;
    if (found > newest[schema])
      throw newer(`its schema ${schema} has version ${found}, and this program knows ${newest[schema]}`);
  }
  return manifest.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const foreign = (): ArchiveError => new ArchiveError('the archive is not a backup of this service');

const newer = (reason: string): ArchiveError =>
  new ArchiveError(`the archive was created by a newer version of the service: ${reason}; use that version`);

/** The number of rows of all tables. */
export const totalRows = ({ tables }: Pick<Manifest, 'tables'>): number =>
  tables.reduce((sum, { rows }) => sum + rows, 0);
