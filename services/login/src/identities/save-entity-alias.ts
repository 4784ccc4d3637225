import { concern } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { isUniqueViolation, type Tx } from '@secrets/db';
import { invalid, notFound, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import { findAuthMountByAccessor } from '../queries/auth-mounts.ts';
import {
  deleteEntityAlias,
  type EntityRow,
  findEntityIdOfAlias,
  insertEntityAlias,
  lockEntity,
} from '../queries/entities.ts';
import { revoking } from '../queries/revocations.ts';
import { requireMayGive } from './grantable.ts';

/** What a request sets. For an existing alias, what is absent stays as it is. */
export interface EntityAliasChange {
  /** That of an existing alias, which is the ID of its entity. */
  id?: string | undefined;
  name?: string | undefined;
  mount_accessor?: string | undefined;
  canonical_id?: string | undefined;
}

/**
 * Creates or changes the alias of an entity: who logs in at the mount under this name becomes the entity, so the caller must be allowed to give its
 * policies (docs/conventions.md#213-entities). Throws `invalid` or `forbidden` if not, or if mount or entity do not exist, `not_found` if there
 * is no alias of a given ID, `conflict` if the entity has another alias, or the alias another entity.
 */
export const saveEntityAlias = (
  { db }: DbContext,
  caller: Caller,
  { id, ...change }: EntityAliasChange,
): Promise<{ id: string }> =>
  revoking(
    db,
    async (tx) => {
      const entity = await requireLocked(tx, caller, { id, canonicalId: change.canonical_id });
      const [stored] = entity.aliases;
      const name = change.name ?? stored?.name;
      const accessor = change.mount_accessor ?? stored?.mountAccessor;
      if (name === undefined) throw invalid('name is required');
      if (accessor === undefined) throw invalid('mount_accessor is required');
      const mount = await findAuthMountByAccessor(tx, caller.namespace.id, accessor);
      if (mount === undefined) throw invalid('mount_accessor: no auth mount of this namespace has it');
      requireGrant(caller, stored !== undefined);
      requireMayGive(caller, entity.policies);
      const isSame = stored?.name === name && stored.mountAccessor === accessor;
      if (isSame) return { id: entity.id };
      if (id === undefined && stored !== undefined)
        throw new Problem('conflict', 'the entity has another alias');
      await requireFree(tx, mount.id, name);
      await deleteEntityAlias(tx, entity.id);
      if (!(await insertEntityAlias(tx, entity.id, { mountId: mount.id, name }))) throw notFound();
      return { id: entity.id };
    },
    (saved) => [concern.entity(saved.id)],
  ).catch((error: unknown) => {
    throw isUniqueViolation(error) ? taken() : error;
  });

/** The entity of an alias, or the one that is to have it. It is not changed before the transaction ends. */
async function requireLocked(
  tx: Tx,
  caller: Caller,
  { id, canonicalId }: { id: string | undefined; canonicalId: string | undefined },
): Promise<EntityRow> {
  if (id !== undefined && canonicalId !== undefined && id !== canonicalId)
    throw invalid('canonical_id: cannot be changed after the alias was created');
  const entityId = id ?? canonicalId;
  if (entityId === undefined) throw invalid('canonical_id is required');
  const entity = await lockEntity(tx, caller.namespace.id, { id: entityId });
  if (id !== undefined && entity?.aliases[0] === undefined) throw notFound();
  if (entity === undefined) throw invalid('canonical_id: no entity of this namespace has it');
  return entity;
}

async function requireFree(tx: Tx, mountId: string, name: string): Promise<void> {
  if ((await findEntityIdOfAlias(tx, mountId, name)) !== undefined) throw taken();
}

const taken = () => new Problem('conflict', 'the alias is that of another entity');
