import { changeTag } from '@secrets/access';
import type { Db, Tx } from '@secrets/db';
import { recordChange } from './revocations.ts';

/** An auth mount or a namespace that was removed, and whose tokens and entities are still to be deleted. */
export interface RemovedOwner {
  id: string;
  kind: 'auth mount' | 'namespace';
}

/** Up to 100 of them, the oldest first. */
export async function listRemovedOwners(db: Db): Promise<RemovedOwner[]> {
  return db.query('select id, kind from login.removed_owners order by removed_at, id limit 100');
}

const isEmpty = {
  'auth mount': `(select hash from login.tokens where mount_id = o.id::uuid limit 1) is null
    and (select entity_id from login.entity_aliases where mount_id = o.id::uuid order by name limit 1) is null`,
  namespace: `(select hash from login.tokens where namespace_id = o.id order by namespace_id, accessor collate "C" limit 1) is null
    and (select id from login.entities where namespace_id = o.id order by namespace_id, id limit 1) is null`,
};

/**
 * Records that nothing of a removed owner is left. Returns false if something is: rows that another process was just
 * deleting, which may die before its commit.
 */
export async function forgetRemovedOwner(db: Db, { id, kind }: RemovedOwner): Promise<boolean> {
  const text = `delete from login.removed_owners o where o.id = $1 and o.kind = $2 and ${isEmpty[kind]} returning 1`;
  return (await db.query(text, [id, kind])).length > 0;
}

/** Tokens that cannot be used any more: those of a removed owner, and those that have expired, were revoked, or are used up. */
export type DeadTokens = RemovedOwner | 'expired' | 'used up';

const deadWhere = {
  'auth mount': 'mount_id = $2::uuid',
  namespace: `namespace_id = $2 order by namespace_id, accessor collate "C"`,
  expired: 'expires_at <= now() order by expires_at',
  'used up': 'uses_left = 0',
};

interface DeadToken {
  hash: Buffer;
  accessor: string;
  orphansChildren: boolean;
}

/** The result of one page of deletions. If `deleted` is less than `found`, tokens of the page still have children. */
export interface DeletedPage {
  found: number;
  deleted: number;
  detached: number;
}

/**
 * Deletes a page of dead tokens. A token is deleted after its children, of which there may be many: a page takes up to
 * `limit` of them from their parents, and makes them expire, too, unless the parent was revoked alone. Pages may run in
 * several processes at once.
 */
export const deletePageOfTokens = (db: Db, which: DeadTokens, limit: number): Promise<DeletedPage> =>
  db.transaction(async (tx) => {
    const page = await lockPage(tx, which, limit);
    if (page.length === 0) return { found: 0, deleted: 0, detached: 0 };
    const detached = await detachChildren(tx, page, limit);
    const deleted = await tx.query(
      `delete from login.tokens t where t.hash = any($1::bytea[])
         and (select c.hash from login.tokens c where c.parent_accessor = t.accessor limit 1) is null returning 1`,
      [page.map(({ hash }) => hash)],
    );
    // A gateway that does not know of a step of the database's clock yet may still consider them valid. The others were refused
    // from an earlier change on.
    if (which === 'expired')
      await recordChange(
        tx,
        page.map(({ accessor }) => changeTag.token(accessor)),
      );
    return { found: page.length, deleted: deleted.length, detached };
  });

function lockPage(tx: Tx, which: DeadTokens, limit: number): Promise<DeadToken[]> {
  const [where, params] =
    typeof which === 'string' ? [deadWhere[which], [limit]] : [deadWhere[which.kind], [limit, which.id]];
  return tx.query<DeadToken>(
    `select hash, accessor, orphans_children as "orphansChildren" from login.tokens
     where ${where} limit $1 for update skip locked`,
    params,
  );
}

async function detachChildren(tx: Tx, parents: readonly DeadToken[], limit: number): Promise<number> {
  const accessorsOf = (tokens: readonly DeadToken[]) => tokens.map(({ accessor }) => accessor);
  const detached = await tx.query(
    `update login.tokens set parent_accessor = null,
       expires_at = case when parent_accessor = any($2::text[]) then expires_at else to_timestamp(0) end
     where hash = any(array(
       select hash from login.tokens where parent_accessor = any($1::text[]) limit $3 for update skip locked
     )) returning 1`,
    [accessorsOf(parents), accessorsOf(parents.filter((token) => token.orphansChildren)), limit],
  );
  return detached.length;
}

/**
 * Deletes up to `limit` entities of a removed owner with their aliases, and records that: tokens of them that lost
 * their parent, and were therefore not deleted, may be in a cache. Returns their number.
 */
export const deletePageOfEntities = (db: Db, owner: RemovedOwner, limit: number): Promise<number> =>
  db.transaction(async (tx) => {
    const deleted = await deleteEntities(tx, owner, limit);
    if (deleted.length > 0)
      await recordChange(
        tx,
        deleted.map(({ id }) => changeTag.entity(id)),
      );
    return deleted.length;
  });

function deleteEntities(tx: Tx, { id, kind }: RemovedOwner, limit: number): Promise<{ id: string }[]> {
  const ids =
    kind === 'auth mount'
      ? 'select entity_id from login.entity_aliases where mount_id = $1::uuid order by name limit $2'
      : 'select id from login.entities where namespace_id = $1 order by id limit $2';
  return tx.query(`delete from login.entities where id = any(array(${ids})) returning id`, [id, limit]);
}
