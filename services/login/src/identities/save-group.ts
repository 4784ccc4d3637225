import { changeTag } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { rethrowViolation, type Tx } from '@secrets/db';
import { notFound, requireFound } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  findGroups,
  type GroupRow,
  type IdOrName,
  insertGroup,
  lockGroups,
  updateGroup,
} from '../queries/groups.ts';
import { serializeWrites } from '../queries/namespaces.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import { grantablePolicies } from './grantable.ts';
import { exactlyNamed, requireFreeName } from './named.ts';

/** The fields that a request sets; absent fields are kept. */
export interface GroupChange {
  name?: string | undefined;
  policies?: readonly string[] | undefined;
  metadata?: Record<string, string> | undefined;
}

/** The group of a path. Undefined if there is none. */
export const findGroupAt = async (
  { db }: DbContext,
  caller: Caller,
  by: IdOrName,
): Promise<GroupRow | undefined> => exactlyNamed(await findGroups(db, caller.namespace.id, by), by);

/** The same. Throws `not_found` if there is none. */
export async function requireGroup(context: DbContext, caller: Caller, by: IdOrName): Promise<GroupRow> {
  return requireFound(await findGroupAt(context, caller, by));
}

/**
 * Creates or updates a group (docs/conventions/access.md#groups). Throws `invalid` or `forbidden` if the caller may not
 * give its policies, `conflict` if the name is in use, and `not_found` if there is no group of a given ID.
 */
export async function saveGroup(
  context: DbContext,
  caller: Caller,
  by: IdOrName,
  change: GroupChange,
): Promise<Pick<GroupRow, 'id' | 'name'>> {
  const { db } = context;
  const namespaceId = caller.namespace.id;
  const save = async (tx: Tx, stored: GroupRow | undefined) => {
    if (stored === undefined && 'id' in by) throw notFound();
    requireGrant(caller, stored !== undefined);
    const group = {
      name: change.name ?? stored?.name ?? nameIn(by),
      policies: grantablePolicies(caller, change.policies, stored?.policies),
      metadata: change.metadata ?? stored?.metadata ?? {},
    };
    if (group.name !== stored?.name)
      requireFreeName(await findGroups(tx, namespaceId, { name: group.name }), stored?.id, 'a group');
    if (stored === undefined) return { id: await insertGroup(tx, namespaceId, group), name: group.name };
    await updateGroup(tx, stored.id, group);
    return { id: stored.id, name: group.name };
  };
  const saved = async (tx: Tx) => {
    await serializeWrites(tx, namespaceId);
    return save(tx, exactlyNamed(await lockGroups(tx, namespaceId, by), by));
  };
  const isNew = (await findGroupAt(context, caller, by)) === undefined;
  const saving = isNew
    ? db.transaction((tx) => saved(tx)) // revokes nothing: nobody is in it yet
    : revoking(db, saved, [changeTag.groups(namespaceId)]);
  return saving.catch(rethrowViolation('a group of this name exists'));
}

const nameIn = (by: IdOrName): string => ('name' in by ? by.name : '');
