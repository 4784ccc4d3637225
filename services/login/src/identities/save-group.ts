import { concern } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { isForeignKeyViolation, isUniqueViolation, type Sql } from '@secrets/db';
import { notFound, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { type By, findGroup, type GroupRow, insertGroup, lockGroup, updateGroup } from '../queries/groups.ts';
import { revoking } from '../queries/revocations.ts';
import { grantablePolicies } from './grantable.ts';

/** What a request sets; what is absent stays as it is. */
export interface GroupChange {
  name?: string | undefined;
  policies?: readonly string[] | undefined;
  metadata?: Record<string, string> | undefined;
}

/** The group of a path. Throws `not_found` if there is none. */
export async function requireGroup({ db }: DbContext, caller: Caller, by: By): Promise<GroupRow> {
  const group = await findGroup(db, caller.namespace.id, by);
  if (group === undefined) throw notFound();
  return group;
}

/**
 * Creates or updates a group (docs/conventions.md#214-groups). Throws `invalid` or `forbidden` if the caller may not give its policies,
 * `conflict` if the name is in use, and `not_found` if there is no group of a given ID.
 */
export async function saveGroup(
  { db }: DbContext,
  caller: Caller,
  by: By,
  change: GroupChange,
): Promise<Pick<GroupRow, 'id' | 'name'>> {
  const save = async (sql: Sql, stored: GroupRow | undefined) => {
    if (stored === undefined && 'id' in by) throw notFound();
    requireGrant(caller, stored !== undefined);
    const group = {
      name: change.name ?? stored?.name ?? nameIn(by),
      policies: grantablePolicies(caller, change.policies, stored?.policies),
      metadata: change.metadata ?? stored?.metadata ?? {},
    };
    if (stored === undefined)
      return { id: await insertGroup(sql, caller.namespace.id, group), name: group.name };
    await updateGroup(sql, stored.id, group);
    return { id: stored.id, name: group.name };
  };
  const isNew = (await findGroup(db, caller.namespace.id, by)) === undefined;
  const saving = isNew
    ? save(db, undefined) // revokes nothing: nobody is in it yet
    : revoking(db, async (tx) => save(tx, await lockGroup(tx, caller.namespace.id, by)), [
        concern.groups(caller.namespace.id),
      ]);
  return saving.catch(rethrowConflict);
}

const nameIn = (by: By): string => ('name' in by ? by.name : '');

function rethrowConflict(error: unknown): never {
  if (isUniqueViolation(error)) throw new Problem('conflict', 'a group of this name exists');
  throw isForeignKeyViolation(error) ? notFound() : error; // the namespace was deleted in the meantime
}
