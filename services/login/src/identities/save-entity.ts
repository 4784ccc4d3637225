import { changeTag, generatedName } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { isUniqueViolation, type Sql, type Tx } from '@secrets/db';
import { invalid, notFound, Problem, requireFound } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  type EntityRow,
  type EntitySettings,
  entitiesOfIdentity,
  findEntities,
  insertEntity,
  lockEntities,
  updateEntity,
} from '../queries/entities.ts';
import type { IdOrName } from '../queries/groups.ts';
import { serializeWrites } from '../queries/namespaces.ts';
import { revoking } from '../queries/tokens/revocations.ts';
import { grantablePolicies } from './grantable.ts';
import { exactlyNamed, requireFreeName } from './named.ts';

/** The fields that a request sets; absent fields are kept. */
export interface EntityChange {
  name?: string | undefined;
  policies?: readonly string[] | undefined;
  metadata?: Record<string, string> | undefined;
  disabled?: boolean | undefined;
}

const generated = new RegExp(`^${generatedName}([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`, 'i');

/** The entity of a path, also by the name that it has until one is chosen. Undefined if there is none. */
export async function findEntityAt(
  { db }: DbContext,
  caller: Caller,
  by: IdOrName,
): Promise<EntityRow | undefined> {
  return named(by, await findEntities(db, caller.namespace.id, storedBy(by)));
}

/** Returns the key by which the entity of a path is stored. */
export function storedBy(by: IdOrName): IdOrName {
  const id = 'name' in by ? generated.exec(by.name)?.[1] : undefined;
  return id === undefined ? by : { id };
}

/** An entity that was found by a generated name may have another name by now. */
function named(by: IdOrName, found: readonly EntityRow[]): EntityRow | undefined {
  const entity = exactlyNamed(found, by);
  const isRenamed =
    'name' in by && generated.test(by.name) && entity?.name.toLowerCase() !== by.name.toLowerCase();
  return isRenamed ? undefined : entity;
}

/** The same. Throws `not_found` if there is none. */
export async function requireEntity(context: DbContext, caller: Caller, by: IdOrName): Promise<EntityRow> {
  return requireFound(await findEntityAt(context, caller, by));
}

/**
 * Creates or updates an entity (docs/conventions/access.md#entities); without `by`, one with a generated name. Throws
 * `invalid` or `forbidden` if the caller may not give its policies, `conflict` if the name is in use, and `not_found`
 * if there is no entity of a given ID.
 */
export async function saveEntity(
  context: DbContext,
  caller: Caller,
  by: IdOrName | undefined,
  change: EntityChange,
): Promise<SavedEntity> {
  const isNew = by === undefined || (await findEntityAt(context, caller, by)) === undefined;
  const saving = isNew
    ? createEntity(context, caller, by, change) // revokes nothing: it has no tokens yet
    : revoking(
        context.db,
        (tx) => updateStored(tx, caller, by, change),
        ({ concerned }) => concerned,
      );
  return saving
    .then(({ id, name }) => ({ id, name }))
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? new Problem('conflict', 'an entity of this name exists') : error;
    });
}

type SavedEntity = Pick<EntityRow, 'id' | 'name'>;

async function updateStored(
  tx: Tx,
  caller: Caller,
  by: IdOrName,
  change: EntityChange,
): Promise<SavedEntity & { concerned: string[] }> {
  const namespaceId = caller.namespace.id;
  if (change.name !== undefined) await serializeWrites(tx, namespaceId);
  const stored = named(by, await lockEntities(tx, namespaceId, storedBy(by)));
  if (stored === undefined) throw notFound();
  requireGrant(caller, true);
  const entity = changedEntity(caller, stored, change);
  const isRenamed = entity.name !== null && entity.name !== stored.name;
  if (isRenamed)
    requireFreeName(await findEntities(tx, namespaceId, { name: entity.name! }), stored.id, 'an entity');
  await updateEntity(tx, stored.id, entity);
  return {
    id: stored.id,
    name: entity.name ?? stored.name,
    concerned: await tagsOfEntityChange(tx, stored.id),
  };
}

/** Returns the tags of the caches that a change of an entity affects. */
export const tagsOfEntityChange = async (sql: Sql, id: string): Promise<string[]> =>
  (await entitiesOfIdentity(sql, id)).map(changeTag.entity);

async function createEntity(
  { db }: DbContext,
  caller: Caller,
  by: IdOrName | undefined,
  change: EntityChange,
): Promise<SavedEntity> {
  if (by !== undefined && 'id' in by) throw notFound();
  requireGrant(caller, false);
  const name = change.name ?? by?.name;
  if (name !== undefined && generated.test(name))
    throw invalid('name: entity_ and an ID is the name of another entity');
  const entity = {
    name: name ?? null,
    policies: grantablePolicies(caller, change.policies),
    metadata: change.metadata ?? {},
    disabled: change.disabled ?? false,
  };
  const id = await db.transaction(async (tx) => {
    if (name !== undefined) await requireNew(tx, caller.namespace.id, name);
    return insertEntity(tx, caller.namespace.id, entity);
  });
  if (id === undefined) throw notFound();
  return { id, name: name ?? generatedName + id };
}

async function requireNew(tx: Tx, namespaceId: string, name: string): Promise<void> {
  await serializeWrites(tx, namespaceId);
  requireFreeName(await findEntities(tx, namespaceId, { name }), undefined, 'an entity');
}

function changedEntity(caller: Caller, stored: EntityRow, change: EntityChange): EntitySettings {
  const name = change.name ?? stored.name;
  if (name !== stored.name && generated.test(name))
    throw invalid('name: entity_ and an ID is the name of another entity');
  return {
    name: generated.test(name) ? null : name,
    policies: grantablePolicies(caller, change.policies, stored.policies),
    metadata: change.metadata ?? stored.metadata,
    disabled: change.disabled ?? stored.disabled,
  };
}
