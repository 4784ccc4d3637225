import { ArchiveError } from './archive-error.ts';
import { foreign, type Manifest, type ManifestTable, parseManifest, type SchemaName } from './manifest.ts';
import { type ReadMember, readText } from './read-archive.ts';

export const manifestName = 'manifest.json';
const maxManifestBytes = 1_048_576;

export const settingsName = (name: string): string => `settings/${name}`;
/** An archive has few small files of settings. */
export const maxSettingsBytes = 1_048_576;

const folderOf = ({ schema, name }: ManifestTable): string => `data/${schema}.${name}/`;

/** Parts have numbers so that, when unpacked, their names are in their order. */
export const partName = (table: ManifestTable, index: number): string =>
  `${folderOf(table)}${String(index).padStart(8, '0')}`;

/** Reads the members of an archive in their order: the manifest, files of settings, then the parts of each table. */
export class ArchiveReader {
  readonly #members: AsyncGenerator<ReadMember>;
  #next: ReadMember | undefined;

  private constructor(members: AsyncGenerator<ReadMember>) {
    this.#members = members;
  }

  static async open(members: AsyncGenerator<ReadMember>): Promise<ArchiveReader> {
    const reader = new ArchiveReader(members);
    await reader.#advance();
    return reader;
  }

  /** @throws {ArchiveError} as `parseManifest` */
  async manifest(newest: Readonly<Record<SchemaName, number>>): Promise<Manifest> {
    if (this.#next?.name !== manifestName) throw foreign();
    const manifest = parseManifest(await readText(this.#next, maxManifestBytes), newest);
    await this.#advance();
    return manifest;
  }

  async settings({ settings }: Manifest, take: (name: string, text: string) => void): Promise<void> {
    for (const { name } of settings) {
      if (this.#next?.name !== settingsName(name)) throw damaged();
      take(name, await readText(this.#next, maxSettingsBytes));
      await this.#advance();
    }
  }

  /**
   * Passes the rows of each table to `take`, as `copy … to stdout` has sent them, and compares their number.
   * @param take returns how many rows it has seen
   */
  async tables(
    { tables }: Manifest,
    take: (table: ManifestTable, rows: AsyncIterable<Uint8Array>) => Promise<number>,
  ): Promise<void> {
    for (const table of tables) {
      const rows = await take(table, this.#partsOf(table));
      if (rows !== table.rows) throw damaged();
    }
    if (this.#next !== undefined) throw damaged();
  }

  async *#partsOf(table: ManifestTable): AsyncGenerator<Uint8Array> {
    while (this.#next?.name.startsWith(folderOf(table))) {
      yield* this.#next.content;
      await this.#advance();
    }
  }

  async #advance(): Promise<void> {
    const { value, done } = await this.#members.next();
    this.#next = done === true ? undefined : value;
  }
}

const damaged = (): ArchiveError =>
  new ArchiveError('the archive does not contain what its manifest lists: it is damaged, or was changed');

const newline = 0x0a;

/** Counts rows in the text format of `copy`, in which each row ends with a newline and contains no other. */
export async function countLines(rows: AsyncIterable<Uint8Array>): Promise<number> {
  let lines = 0;
  for await (const chunk of rows) for (const byte of chunk) if (byte === newline) lines += 1;
  return lines;
}
