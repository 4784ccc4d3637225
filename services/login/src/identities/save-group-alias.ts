import { concern } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { isForeignKeyViolation, isUniqueViolation, type Sql, type Tx } from '@secrets/db';
import { invalid, notFound, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { type AuthMountRow, findAuthMountByAccessor } from '../queries/auth-mounts.ts';
import {
  findGroupAlias,
  findGroupAliasOf,
  type GroupAliasRow,
  type GroupRow,
  insertGroupAlias,
  lockGroup,
  updateGroupAlias,
} from '../queries/groups.ts';
import { serializeWrites } from '../queries/namespaces.ts';
import { revoking } from '../queries/revocations.ts';
import { requireMayGive } from './grantable.ts';

/** What a request sets. For an existing alias, what is absent stays as it is. */
export interface GroupAliasChange {
  id?: string | undefined;
  name?: string | undefined;
  mount_accessor?: string | undefined;
  canonical_id?: string | undefined;
}

/** The alias of an ID. Throws `not_found` if there is none in the namespace of the request. */
export async function requireGroupAlias(
  { db }: { db: Sql },
  caller: Caller,
  id: string,
): Promise<GroupAliasRow> {
  const alias = await findGroupAlias(db, caller.namespace.id, id);
  if (alias === undefined) throw notFound();
  return alias;
}

/**
 * Creates or updates the alias of a group: an existing one is found by its ID, or by mount and name. This makes all members of the directory's group
 * members of the group, so the caller must be allowed to give its policies (docs/conventions.md#214-groups).
 */
export async function saveGroupAlias(
  { db }: DbContext,
  caller: Caller,
  change: GroupAliasChange,
): Promise<{ id: string; groupId: string }> {
  const save = async (tx: Tx) => {
    await serializeWrites(tx, caller.namespace.id);
    const stored =
      change.id === undefined ? undefined : await requireGroupAlias({ db: tx }, caller, change.id);
    const mount = await requireMount(tx, caller, change.mount_accessor ?? stored?.mountAccessor);
    const name = (change.name ?? stored?.name)?.toLowerCase();
    if (name === undefined) throw missing('name');
    const existing = stored ?? (await findGroupAliasOf(tx, mount.id, name));
    const group = await lockAliasedGroup(tx, caller, change.canonical_id ?? existing?.groupId);
    requireGrant(caller, existing !== undefined);
    requireMayGive(caller, group.policies);
    const alias = { name, mountId: mount.id, groupId: group.id };
    if (existing === undefined) return { id: await insertGroupAlias(tx, alias), groupId: group.id };
    await updateGroupAlias(tx, existing.id, alias);
    return { id: existing.id, groupId: group.id };
  };
  return revoking(db, save, [concern.groups(caller.namespace.id)]).catch(rethrowConflict);
}

async function requireMount(tx: Tx, caller: Caller, accessor: string | undefined): Promise<AuthMountRow> {
  if (accessor === undefined) throw missing('mount_accessor');
  const mount = await findAuthMountByAccessor(tx, caller.namespace.id, accessor);
  if (mount === undefined) throw invalid('mount_accessor: no auth mount of this namespace has it');
  return mount;
}

/** Its policies must not change before the alias is written, because the caller must be allowed to give them. */
async function lockAliasedGroup(tx: Tx, caller: Caller, id: string | undefined): Promise<GroupRow> {
  if (id === undefined) throw missing('canonical_id');
  const group = await lockGroup(tx, caller.namespace.id, { id });
  if (group === undefined) throw invalid('canonical_id: no group of this namespace has it');
  return group;
}

const missing = (field: string) => invalid(`${field} is required`);

function rethrowConflict(error: unknown): never {
  if (isUniqueViolation(error))
    throw new Problem('conflict', 'the group has another alias, or the name is that of another group');
  throw isForeignKeyViolation(error) ? notFound() : error; // mount or group were removed in the meantime
}
