import { maxWrappedBytes } from '@secrets/access';
import type { Db, Sql } from '@secrets/db';

/** The properties of a wrapped response that are stored in clear text. */
export interface WrappedResponse {
  accessor: string;
  /** Of the token in the response; null if it contains none. */
  wrappedAccessor: string | null;
  ttlSeconds: number;
  creationPath: string;
  createdAt: Date;
}

interface NewWrappedResponse extends Omit<WrappedResponse, 'createdAt'> {
  hash: Buffer;
  namespaceId: string;
  sealed: Uint8Array;
}

/** A wrapped response with its content. */
interface TakenResponse extends WrappedResponse {
  namespaceId: string;
  sealed: Uint8Array;
}

const columns = `accessor, wrapped_accessor as "wrappedAccessor", ttl_seconds as "ttlSeconds", creation_path as "creationPath",
  created_at as "createdAt"`;

// The responses of a namespace that was deleted remain until they expire, but cannot be read.
const isValid = `expires_at > now() and (select n.id from login.namespaces n where n.id = namespace_id) is not null`;

/**
 * Stores a response, and returns when it was created; undefined if those of the namespace would take too much space.
 * A trigger frees the space when the response is deleted.
 */
export async function insertWrappedResponse(
  sql: Sql,
  response: NewWrappedResponse,
): Promise<Date | undefined> {
  const [row] = await sql.query<{ createdAt: Date }>(
    `with space as (
       insert into login.wrapped_space as s (namespace_id, bytes) values ($3, $8::bigint)
       on conflict (namespace_id) do update set bytes = s.bytes + excluded.bytes where s.bytes + excluded.bytes <= $9::bigint
       returning 1
     )
     insert into login.wrapped_responses
       (hash, accessor, namespace_id, sealed, wrapped_accessor, ttl_seconds, creation_path, expires_at, bytes)
     select $1, $2, $3, $4, $5, $6::bigint, $7, now() + $6::bigint * interval '1 second', $8::bigint from space
     returning created_at as "createdAt"`,
    [
      response.hash,
      response.accessor,
      response.namespaceId,
      response.sealed,
      response.wrappedAccessor,
      response.ttlSeconds,
      response.creationPath,
      response.sealed.length,
      maxWrappedBytes,
    ],
  );
  return row?.createdAt;
}

export async function findWrappedResponse(sql: Sql, hash: Buffer): Promise<WrappedResponse | undefined> {
  const text = `select ${columns} from login.wrapped_responses where hash = $1 and ${isValid}`;
  return (await sql.query<WrappedResponse>(text, [hash]))[0];
}

/**
 * Takes a response out of the table. If several callers take it at the same time, one of them gets it; the others get
 * undefined.
 */
export async function takeWrappedResponse(sql: Sql, hash: Buffer): Promise<TakenResponse | undefined> {
  const text = `delete from login.wrapped_responses where hash = $1 and ${isValid}
    returning ${columns}, namespace_id as "namespaceId", sealed`;
  return (await sql.query<TakenResponse>(text, [hash]))[0];
}

/** Deletes the response of an accessor in a namespace or one below it. Returns false if there is none. */
export async function deleteWrappedResponse(
  sql: Sql,
  namespacePath: string,
  accessor: string,
): Promise<boolean> {
  const deleted = await sql.query(
    `delete from login.wrapped_responses w using login.namespaces n
     where w.accessor = $2 and n.id = w.namespace_id and ($1 = '' or n.path = $1 or starts_with(n.path, $1 || '/')) returning 1`,
    [namespacePath, accessor],
  );
  return deleted.length > 0;
}

/** Deletes up to `limit` expired responses. Returns their number. */
export async function deletePageOfWrappedResponses(db: Db, limit: number): Promise<number> {
  const deleted = await db.query(
    `delete from login.wrapped_responses where hash = any(array(
       select hash from login.wrapped_responses where expires_at <= now() order by expires_at limit $1 for update skip locked
     )) returning 1`,
    [limit],
  );
  return deleted.length;
}
