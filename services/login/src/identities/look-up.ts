import type { Caller } from '@secrets/caller';
import { invalid } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { findAuthMountByAccessor } from '../queries/auth-mounts.ts';
import { type EntityRow, findEntityIdOfAlias } from '../queries/entities.ts';
import { findGroupAlias, findGroupAliasOf, type GroupRow } from '../queries/groups.ts';
import { findEntityAt } from './save-entity.ts';
import { findGroupAt } from './save-group.ts';

/** By what an entity or a group is looked up: one of the IDs, the name, or the alias at a mount. */
export interface LookUp {
  id?: string | undefined;
  name?: string | undefined;
  alias_id?: string | undefined;
  alias_name?: string | undefined;
  alias_mount_accessor?: string | undefined;
}

/**
 * The entity of the caller's namespace that a request names; undefined if there is none. Throws `invalid` unless it is
 * named in exactly one way.
 */
export async function lookUpEntity(
  context: DbContext,
  caller: Caller,
  by: LookUp,
): Promise<EntityRow | undefined> {
  const { db } = context;
  requireOneWay(by);
  if (by.name !== undefined) return findEntityAt(context, caller, { name: by.name });
  const mount = await mountOf(context, caller, by);
  const id =
    by.id ?? by.alias_id ?? (mount && (await findEntityIdOfAlias(db, mount.id, by.alias_name ?? '')));
  return id === undefined ? undefined : findEntityAt(context, caller, { id });
}

/** The same for a group. */
export async function lookUpGroup(
  context: DbContext,
  caller: Caller,
  by: LookUp,
): Promise<GroupRow | undefined> {
  const { db } = context;
  const namespaceId = caller.namespace.id;
  requireOneWay(by);
  if (by.name !== undefined) return findGroupAt(context, caller, { name: by.name });
  if (by.id !== undefined) return findGroupAt(context, caller, { id: by.id });
  const mount = await mountOf(context, caller, by);
  const ofMount = mount && (await findGroupAliasOf(db, mount.id, by.alias_name ?? ''));
  const alias = by.alias_id === undefined ? ofMount : await findGroupAlias(db, namespaceId, by.alias_id);
  return alias && findGroupAt(context, caller, { id: alias.ownerId });
}

const mountOf = async ({ db }: DbContext, caller: Caller, { alias_mount_accessor: accessor }: LookUp) =>
  accessor === undefined ? undefined : findAuthMountByAccessor(db, caller.namespace.id, accessor);

function requireOneWay({ id, name, alias_id, alias_name, alias_mount_accessor }: LookUp): void {
  const isHalf = (alias_name === undefined) !== (alias_mount_accessor === undefined);
  const ways = [id, name, alias_id, alias_name].filter((way) => way !== undefined);
  if (isHalf || ways.length !== 1)
    throw invalid('exactly one of id, name, alias_id, or alias_name with alias_mount_accessor is required');
}
