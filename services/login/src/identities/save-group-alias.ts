import { changeTag } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { rethrowViolation, type Sql, type Tx } from '@secrets/db';
import { invalid, requireFound } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  findGroupAlias,
  findGroupAliasOf,
  type GroupRow,
  insertGroupAlias,
  lockGroups,
  type OwnedAlias,
  updateGroupAlias,
} from '../queries/groups.ts';
import { serializeWrites } from '../queries/namespaces.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import { requireMayGive } from './grantable.ts';
import { type AliasChange, missing, requireNamedMount } from './require-alias-mount.ts';

/** The alias of an ID. Throws `not_found` if there is none in the namespace of the request. */
export async function requireGroupAlias(
  { db }: { db: Sql },
  caller: Caller,
  id: string,
): Promise<OwnedAlias> {
  return requireFound(await findGroupAlias(db, caller.namespace.id, id));
}

/**
 * Creates or updates the alias of a group: an existing one is found by its ID, or by mount and name. This makes all
 * members of the directory's group members of the group, so the caller must be allowed to give its policies
 * (docs/conventions/access.md#groups).
 */
export async function saveGroupAlias(
  { db }: DbContext,
  caller: Caller,
  change: AliasChange,
): Promise<{ id: string; ownerId: string }> {
  const save = async (tx: Tx) => {
    await serializeWrites(tx, caller.namespace.id);
    const stored =
      change.id === undefined ? undefined : await requireGroupAlias({ db: tx }, caller, change.id);
    const { name, mount } = await requireNamedMount(tx, caller, change, stored);
    const existing = stored ?? (await findGroupAliasOf(tx, mount.id, name));
    const group = await lockAliasedGroup(tx, caller, change.canonical_id ?? existing?.ownerId);
    requireGrant(caller, existing !== undefined);
    requireMayGive(caller, group.policies);
    const alias = { name, mountId: mount.id, groupId: group.id };
    if (existing === undefined) return { id: await insertGroupAlias(tx, alias), ownerId: group.id };
    await updateGroupAlias(tx, existing.id, alias);
    return { id: existing.id, ownerId: group.id };
  };
  return revoking(db, save, [changeTag.groups(caller.namespace.id)]).catch(
    rethrowViolation('the group has another alias, or the name is that of another group'),
  );
}

/** Its policies must not change before the alias is written, because the caller must be allowed to give them. */
async function lockAliasedGroup(tx: Tx, caller: Caller, id: string | undefined): Promise<GroupRow> {
  if (id === undefined) throw missing('canonical_id');
  const [group] = await lockGroups(tx, caller.namespace.id, { id });
  if (group === undefined) throw invalid('canonical_id: no group of this namespace has it');
  return group;
}
