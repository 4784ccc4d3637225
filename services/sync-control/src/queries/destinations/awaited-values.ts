import type { PageRange, Sql } from '@secrets/db';

/** A secret whose first version is pushed, for the line of an import. */
export interface AwaitedRow {
  id: string;
  destinationId: string;
  secretId: string;
  /** The revision of the secret when it was last looked at. */
  seenRevision: number;
  sealedRequest: Uint8Array;
  importId: string;
  line: number;
}

/** Records that a secret is awaited, in place of what was recorded for it before. */
export async function upsertAwaited(sql: Sql, row: AwaitedRow): Promise<void> {
  await sql.query(
    `insert into sync.awaited_values (id, destination_id, secret_id, seen_revision, sealed_request, import_id, line)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (destination_id, secret_id) do update
       set id = excluded.id, seen_revision = excluded.seen_revision, sealed_request = excluded.sealed_request,
           import_id = excluded.import_id, line = excluded.line`,
    [row.id, row.destinationId, row.secretId, row.seenRevision, row.sealedRequest, row.importId, row.line],
  );
}

/** Awaited secrets with the revision that each has now; null if it is gone. */
export const listAwaited = (
  sql: Sql,
  { after, limit }: PageRange,
): Promise<(AwaitedRow & { revision: number | null })[]> =>
  sql.query(
    `select a.id, a.destination_id as "destinationId", a.secret_id as "secretId", a.seen_revision as "seenRevision",
            a.sealed_request as "sealedRequest", a.import_id as "importId", a.line, r.revision
       from (select * from sync.awaited_values where id > $1 order by id limit $2) as a
       left join lateral (select revision from sync.secret_revisions where secret_id = a.secret_id limit 1) as r on true
      order by a.id`,
    [after, limit],
  );

export async function recordSeenRevision(sql: Sql, id: string, revision: number): Promise<void> {
  await sql.query('update sync.awaited_values set seen_revision = $2 where id = $1', [id, revision]);
}

export async function deleteAwaited(sql: Sql, id: string): Promise<void> {
  await sql.query('delete from sync.awaited_values where id = $1', [id]);
}
