import type { Sql, Tx } from '@secrets/db';
import { isSyncing } from '@secrets/sync-entries';
import type { ImportLine } from '../../destinations/calls/import/import-result.ts';

export type ImportState = 'running' | 'done' | 'cancelled' | 'failed';

/** The import of a destination that was requested last. */
export interface ImportRow {
  id: string;
  destinationId: string;
  sealedRequest: Uint8Array;
  state: ImportState;
  /** Why it has failed, or waits. */
  error: string | null;
  /** The lines by their result. */
  counts: Partial<Record<ImportLine['result'], number>>;
  requestedAt: Date;
  endedAt: Date | null;
}

const columns = `id, destination_id as "destinationId", sealed_request as "sealedRequest", state, error, counts,
  requested_at as "requestedAt", ended_at as "endedAt"`;

export async function findImport(sql: Sql, destinationId: string): Promise<ImportRow | undefined> {
  const [row] = await sql.query<ImportRow>(`select ${columns} from sync.imports where destination_id = $1`, [
    destinationId,
  ]);
  return row;
}

/** Replaces the import of a destination, whose row is locked, with its lines. */
export async function replaceImport(
  tx: Tx,
  { id, destinationId, sealedRequest }: Pick<ImportRow, 'id' | 'destinationId' | 'sealedRequest'>,
): Promise<void> {
  await tx.query('delete from sync.imports where destination_id = $1', [destinationId]);
  await tx.query('insert into sync.imports (destination_id, id, sealed_request) values ($1, $2, $3)', [
    destinationId,
    id,
    sealedRequest,
  ]);
}

/** Ends the import of a destination, if it is running. */
export async function cancelImport(sql: Sql, destinationId: string): Promise<void> {
  await sql.query(
    `update sync.imports set state = 'cancelled', ended_at = now(), error = null
      where destination_id = $1 and state = 'running'`,
    [destinationId],
  );
}

/** A part of an import that one process works on, until another one may take over. */
export interface ImportLease extends Pick<ImportRow, 'id' | 'destinationId' | 'sealedRequest' | 'counts'> {
  fence: string;
  isListed: boolean;
  lines: number;
  attempts: number;
}

/** Takes the import that has been due for longest, for a minute. Returns undefined if none is due, or syncing is stopped. */
export async function claimImport(sql: Sql): Promise<ImportLease | undefined> {
  const [row] = await sql.query<ImportLease>(
    `update sync.imports set due_at = now() + interval '1 minute', fence = gen_random_uuid()
      where destination_id = (
          select destination_id from sync.imports where state = 'running' and due_at <= now()
           order by due_at limit 1 for update skip locked)
        and ${isSyncing}
      returning id, destination_id as "destinationId", sealed_request as "sealedRequest", counts, fence,
        is_listed as "isListed", lines, attempts`,
  );
  return row;
}

/** The beginning of the next page, and why it is not at once. */
interface Continuation {
  /** The request with the new position. */
  sealedRequest: Uint8Array;
  isListed: boolean;
  error: string | null;
  attempts: number;
  retryInSeconds: number;
}

/**
 * Records the lines of a page, and where the next one begins, in a transaction. Returns whether the process still had it. The
 * page of an import that was cancelled meanwhile is recorded as well: its values were written.
 */
export async function recordImportPage(
  tx: Tx,
  lease: ImportLease,
  added: readonly RecordedLine[],
  { sealedRequest, isListed, error, attempts, retryInSeconds }: Continuation,
): Promise<boolean> {
  const counts = { ...lease.counts };
  for (const { result } of added) counts[result] = (counts[result] ?? 0) + 1;
  const rows = await tx.query(
    `update sync.imports
        set sealed_request = $3, is_listed = $4, counts = $5::jsonb, lines = lines + $6, error = case when state = 'running' then $7 end,
            attempts = $8, due_at = now() + $9 * interval '1 second', fence = null
      where destination_id = $1 and fence = $2 and state in ('running', 'cancelled') returning id`,
    [
      lease.destinationId,
      lease.fence,
      sealedRequest,
      isListed,
      JSON.stringify(counts),
      added.length,
      error,
      attempts,
      retryInSeconds,
    ],
  );
  if (rows.length === 0) return false;
  await insertLines(tx, lease, added);
  return true;
}

/** A line as it is recorded. */
export interface RecordedLine extends ImportLine {
  isWritten: boolean;
  /** Whether its secret is to be associated, now or with its first version, was, or is not; null if that was not requested. */
  association: 'requested' | 'awaited' | 'associated' | 'refused' | null;
}

async function insertLines(
  tx: Tx,
  { id, lines: before }: ImportLease,
  added: readonly RecordedLine[],
): Promise<void> {
  const rows = added.map((line, index) => ({
    import_id: id,
    number: before + index + 1,
    external_name: line.externalName,
    path: line.path,
    result: line.result,
    reason: line.reason,
    is_written: line.isWritten,
    association: line.association,
  }));
  await tx.query(
    'insert into sync.import_lines select * from jsonb_populate_recordset(null::sync.import_lines, $1::jsonb)',
    [JSON.stringify(rows)],
  );
}

/** Ends a part of an import that has not advanced it: it continues later, or ends if there is a state. */
export async function endImportStep(
  sql: Sql,
  { destinationId, fence }: ImportLease,
  {
    state = 'running',
    error,
    attempts,
    retryInSeconds,
  }: Omit<Continuation, 'sealedRequest' | 'isListed'> & { state?: ImportState },
): Promise<void> {
  await sql.query(
    `update sync.imports
        set state = $3, error = $4, attempts = $5, due_at = now() + $6 * interval '1 second', fence = null,
            ended_at = case when $3 <> 'running' then now() end
      where destination_id = $1 and fence = $2 and state = 'running'`,
    [destinationId, fence, state, error, attempts, retryInSeconds],
  );
}

export interface NumberedLine extends RecordedLine {
  number: number;
}

const lineColumns = `number, external_name as "externalName", path, result, reason, is_written as "isWritten", association`;

export const listImportLines = (
  sql: Sql,
  importId: string,
  { after, limit }: { after: number; limit: number },
): Promise<NumberedLine[]> =>
  sql.query<NumberedLine>(
    `select ${lineColumns} from sync.import_lines where import_id = $1 and number > $2 order by number limit $3`,
    [importId, after, limit],
  );

/** Lines whose secrets are to be associated, in their order. */
export const listLinesToAssociate = (sql: Sql, importId: string, limit: number): Promise<NumberedLine[]> =>
  sql.query<NumberedLine>(
    `select ${lineColumns} from sync.import_lines
      where import_id = $1 and association = 'requested' order by number limit $2`,
    [importId, limit],
  );

/** Records what has become of the association of a line, and why it is not made. */
export async function recordAssociated(
  sql: Sql,
  importId: string,
  number: number,
  { association, reason }: Pick<RecordedLine, 'association' | 'reason'>,
): Promise<void> {
  await sql.query(
    `update sync.import_lines set association = $3, reason = $4
      where import_id = $1 and number = $2 and association = any('{requested,awaited}')`,
    [importId, number, association, reason],
  );
}

/** Returns those of the paths that the import has used already, with the external secret that it has used each for. */
export async function findUsedPaths(
  sql: Sql,
  importId: string,
  paths: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql.query<{ path: string; name: string }>(
    `select l.path, l.external_name as name from unnest($2::text[]) as p(path)
      cross join lateral (
        select path, external_name from sync.import_lines
         where import_id = $1 and path = p.path and result = any('{new,same_value,other_value,value_needed}') limit 1) l`,
    [importId, paths],
  );
  return new Map(rows.map(({ path, name }) => [path, name]));
}
