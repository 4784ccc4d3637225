import { isDeepStrictEqual } from 'node:util';
import { type Caller, requireGrant } from '@secrets/caller';
import { isUniqueViolation, type Tx } from '@secrets/db';
import { invalid, notFound, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  deleteEntityAlias,
  type EntityRow,
  findEntityIdOfAlias,
  insertEntityAlias,
  lockEntities,
  updateEntityAlias,
} from '../queries/entities.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import { requireMayGive } from './grantable.ts';
import { type AliasChange, missing, requireNamedMount } from './require-alias-mount.ts';
import { tagsOfEntityChange } from './save-entity.ts';

/**
 * Creates or changes the alias of an entity: who logs in at the mount under this name becomes the entity, so the caller
 * must be allowed to give its policies (docs/conventions/access.md#entities). Throws `invalid` or `forbidden` if not,
 * or if mount or entity do not exist, `not_found` if there is no alias of a given ID, `conflict` if the entity has
 * another alias, or the alias another entity.
 */
export const saveEntityAlias = (
  { db }: DbContext,
  caller: Caller,
  { id, ...change }: AliasChange,
): Promise<{ id: string; ownerId: string }> =>
  revoking(
    db,
    async (tx) => {
      const entity = await requireLocked(tx, caller, { id, canonicalId: change.canonical_id });
      const [stored] = entity.aliases;
      const { name, mount } = await requireNamedMount(tx, caller, change, stored);
      requireGrant(caller, stored !== undefined);
      requireMayGive(caller, entity.policies);
      const concerned = await tagsOfEntityChange(tx, entity.id);
      const customMetadata = change.custom_metadata ?? stored?.customMetadata ?? {};
      const isKept =
        stored?.name === name &&
        stored.mountAccessor === mount.accessor &&
        isDeepStrictEqual(stored.customMetadata, customMetadata);
      if (!isKept)
        await assign(tx, entity, { mountId: mount.id, name, customMetadata, isMove: id !== undefined });
      return { saved: { id: entity.id, ownerId: entity.id }, concerned };
    },
    ({ concerned }) => concerned,
  )
    .then(({ saved }) => saved)
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? taken() : error;
    });

interface Assignment {
  mountId: string;
  name: string;
  customMetadata: Record<string, string>;
  /** Whether another alias of the entity is replaced. */
  isMove: boolean;
}

/** Assigns an alias to an entity in place of the one that it has, or changes that one. */
async function assign(tx: Tx, { id, aliases }: EntityRow, { isMove, ...alias }: Assignment): Promise<void> {
  const owner = await findEntityIdOfAlias(tx, alias.mountId, alias.name);
  if (owner === id) return updateEntityAlias(tx, id, alias);
  if (aliases.length > 0 && !isMove) throw new Problem('conflict', 'the entity has another alias');
  if (owner !== undefined) throw taken();
  await deleteEntityAlias(tx, id);
  if (!(await insertEntityAlias(tx, id, alias))) throw notFound();
}

/** The entity of an alias, or the one that is to have it. It is not changed before the transaction ends. */
async function requireLocked(
  tx: Tx,
  caller: Caller,
  { id, canonicalId }: { id: string | undefined; canonicalId: string | undefined },
): Promise<EntityRow> {
  if (id !== undefined && canonicalId !== undefined && id.toLowerCase() !== canonicalId.toLowerCase())
    throw invalid('canonical_id: cannot be changed after the alias was created');
  const entityId = id ?? canonicalId;
  if (entityId === undefined) throw missing('canonical_id');
  const [entity] = await lockEntities(tx, caller.namespace.id, { id: entityId });
  if (id !== undefined && entity?.aliases[0] === undefined) throw notFound();
  if (entity === undefined) throw invalid('canonical_id: no entity of this namespace has it');
  return entity;
}

const taken = () => new Problem('conflict', 'the alias is that of another entity');
