import type { Sql } from '@secrets/db';
import type { Drift, SyncStatus } from '@secrets/domain';
import { type Entry, entryColumns } from './entry.ts';
import { isIndexedByStatus, isPendingInProgress } from './status/count-by-status.ts';

/** Returns the entries of these associations, by association and sub-key. */
export const entriesOf = (sql: Sql, associationIds: readonly string[]): Promise<Entry[]> =>
  sql.query<Entry>(
    `select ${entryColumns} from sync.entries where association_id = any($1::uuid[]) order by association_id, sub_key, id`,
    [associationIds],
  );

export async function findEntry(sql: Sql, id: string): Promise<Entry | undefined> {
  const [entry] = await sql.query<Entry>(`select ${entryColumns} from sync.entries where id = $1`, [id]);
  return entry;
}

/**
 * Returns at least the first `limit` entries of these associations, by association and sub-key; with a sub-key in `after`,
 * those after it. All entries of one sub-key are returned together, so there may be more than `limit`.
 */
export const entriesAfter = (
  sql: Sql,
  associationIds: readonly string[],
  after: { associationId: string; subKey?: string } | undefined,
  limit: number,
): Promise<Entry[]> => {
  const isWithin = after?.subKey !== undefined;
  return sql.query<Entry>(
    `select ${entryColumns} from sync.entries
      where association_id = any($1::uuid[]) and (association_id, sub_key) > ($2::uuid, $3)
      order by association_id, sub_key fetch first ($4) rows with ties`,
    [associationIds, isWithin ? after.associationId : nilId, isWithin ? after.subKey : '', limit],
  );
};

/** The entries of one sub-key of an association. */
export interface SubKeyOfAssociation {
  associationId: string;
  subKey: string;
}

interface SubKeyRange {
  /** An association, or one of its sub-keys. */
  after: { associationId: string; subKey?: string } | undefined;
  limit: number;
}

/** SQL condition: entry `e` follows the association `$3` or, if it is given, its sub-key `$4`. */
const isAfterSubKey = (after: SubKeyRange['after']): string =>
  after?.subKey === undefined
    ? 'e.association_id > $3::uuid and $4::text is not null'
    : '(e.association_id, e.sub_key) > ($3::uuid, $4)';

/**
 * Returns the sub-keys of a destination's associations that have an entry with one of these statuses, by association and
 * sub-key, after the given one; at most `limit`.
 */
export function subKeysWithStatus(
  sql: Sql,
  destinationId: string,
  statuses: readonly SyncStatus[],
  { after, limit }: SubKeyRange,
): Promise<SubKeyOfAssociation[]> {
  const isAfter = isAfterSubKey(after);
  return sql.query<SubKeyOfAssociation>(
    `select association_id as "associationId", sub_key as "subKey" from (
       select listed.* from unnest($2::text[]) as s (status) cross join lateral (
         select e.association_id, e.sub_key from sync.entries e
          where e.destination_id = $1 and e.status = s.status and ${isIndexedByStatus} and ${isAfter}
          order by e.association_id, e.sub_key limit $5) as listed
       union
       select e.association_id, e.sub_key from sync.entries e
        where e.destination_id = $1 and ${isPendingInProgress} and 'PENDING' = any($2::text[]) and ${isAfter}) as found
      order by association_id, sub_key limit $5`,
    [destinationId, statuses, after?.associationId ?? nilId, after?.subKey ?? '', limit],
  );
}

/** Returns the sub-keys with one of these kinds of drift other than `none`, like `subKeysWithStatus`. */
export const subKeysWithDrift = (
  sql: Sql,
  destinationId: string,
  kinds: readonly Drift[],
  { after, limit }: SubKeyRange,
): Promise<SubKeyOfAssociation[]> =>
  sql.query<SubKeyOfAssociation>(
    `select distinct found.association_id as "associationId", found.sub_key as "subKey"
       from unnest($2::text[]) as k (kind) cross join lateral (
         select e.association_id, e.sub_key from sync.entries e
          where e.destination_id = $1 and e.drift = k.kind and e.drift <> 'none' and ${isAfterSubKey(after)}
          order by e.association_id, e.sub_key limit $5) as found
      order by found.association_id, found.sub_key limit $5`,
    [destinationId, kinds, after?.associationId ?? nilId, after?.subKey ?? '', limit],
  );

/** Returns the entries of these sub-keys, by association and sub-key. */
export const entriesOfSubKeys = (sql: Sql, of: readonly SubKeyOfAssociation[]): Promise<Entry[]> =>
  sql.query<Entry>(
    // The limit of the subquery forces one lookup for each sub-key.
    `select found.* from unnest($1::uuid[], $2::text[]) as wanted (association_id, sub_key) cross join lateral (
       select ${entryColumns} from sync.entries e
        where e.association_id = wanted.association_id and e.sub_key = wanted.sub_key limit 3000) as found
      order by found."associationId", found."subKey", found.id`,
    [of.map(({ associationId }) => associationId), of.map(({ subKey }) => subKey)],
  );

/** Precedes every ID. */
const nilId = '00000000-0000-0000-0000-000000000000';

/** An external name that an entry of the destination has, and the secret of that entry. */
export interface TakenName {
  externalName: string;
  collisionKey: string;
  mount: string;
  secretName: string;
  subKey: string;
  /** Whether the entry has written the external secret, and remembers it. */
  isWritten: boolean;
}

/** Returns which of these names are taken in a destination, and by which secret. */
export const namesTaken = (
  sql: Sql,
  destinationId: string,
  collisionKeys: readonly string[],
): Promise<TakenName[]> =>
  sql.query(
    `select e.external_name as "externalName", e.collision_key as "collisionKey",
            a.mount, a.secret_name as "secretName", e.sub_key as "subKey", e.remote is not null as "isWritten"
       from sync.entries e join sync.associations a on a.id = e.association_id
      where e.destination_id = $1 and e.collision_key = any($2::text[])`,
    [destinationId, collisionKeys],
  );

/** Returns those of these associations that have an entry with the status `PENDING`. */
export async function pendingAssociations(sql: Sql, associationIds: readonly string[]): Promise<Set<string>> {
  const rows = await sql.query<{ id: string }>(
    `select distinct association_id as id from sync.entries
      where association_id = any($1::uuid[]) and status = 'PENDING'`,
    [associationIds],
  );
  return new Set(rows.map(({ id }) => id));
}
