import type { Caller } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import type { Context } from '../../../context.ts';
import {
  findImport,
  type ImportRow,
  listImportLines,
  type NumberedLine,
} from '../../../queries/destinations/imports.ts';
import { type DestinationRef, requireDestination } from '../../require-destination.ts';
import { notAssociated } from './background/associate-imported.ts';
import { openImport, type StoredImport } from './background/stored-import.ts';

/** The last import of a destination: its request, its progress, and some of its lines. */
export interface ImportProgress {
  row: ImportRow;
  request: StoredImport;
  lines: NumberedLine[];
  /** The number of the last line, if others may follow. */
  next: number | undefined;
}

/** Returns the last import of a destination, with the lines after a number. Throws `not_found` if there is none. */
export async function readImport(
  context: Context,
  caller: Caller,
  { after, limit, ...ref }: DestinationRef & { after: number; limit: number },
): Promise<ImportProgress> {
  const { id } = await requireDestination(context, caller, ref);
  const row = await findImport(context.db, id);
  if (row === undefined) throw notFound('this destination has no import');
  const lines = await listImportLines(context.db, row.id, { after, limit });
  return {
    row,
    request: openImport(context.keyRing, row),
    lines: row.state === 'running' ? lines : lines.map(ended),
    next: lines.length === limit ? lines.at(-1)!.number : undefined,
  };
}

/** A secret that an import has not associated before its end stays as it is. */
const ended = (line: NumberedLine): NumberedLine =>
  line.association === 'requested'
    ? { ...line, association: 'refused', reason: notAssociated('the import ended before') }
    : line;
