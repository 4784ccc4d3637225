import { concern, generatedName } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { isUniqueViolation, type Tx } from '@secrets/db';
import { invalid, notFound, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  type EntityRow,
  type EntitySettings,
  findEntity,
  insertEntity,
  lockEntity,
  updateEntity,
} from '../queries/entities.ts';
import type { By } from '../queries/groups.ts';
import { revoking } from '../queries/revocations.ts';
import { grantablePolicies } from './grantable.ts';

/** What a request sets; what is absent stays as it is. */
export interface EntityChange {
  name?: string | undefined;
  policies?: readonly string[] | undefined;
  metadata?: Record<string, string> | undefined;
  disabled?: boolean | undefined;
}

const generated = new RegExp(`^${generatedName}([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$`);

/** The entity of a path, also by the name that it has until one is chosen. Undefined if there is none. */
export async function findEntityAt(
  { db }: DbContext,
  caller: Caller,
  by: By,
): Promise<EntityRow | undefined> {
  return ifNamed(by, await findEntity(db, caller.namespace.id, storedBy(by)));
}

/** How the entity of a path is stored. */
export function storedBy(by: By): By {
  const id = 'name' in by ? generated.exec(by.name)?.[1] : undefined;
  return id === undefined ? by : { id };
}

/** An entity that was found by a generated name may have another name by now. */
const ifNamed = (by: By, entity: EntityRow | undefined): EntityRow | undefined =>
  'name' in by && entity?.name !== by.name ? undefined : entity;

/** The same. Throws `not_found` if there is none. */
export async function requireEntity(context: DbContext, caller: Caller, by: By): Promise<EntityRow> {
  const entity = await findEntityAt(context, caller, by);
  if (entity === undefined) throw notFound();
  return entity;
}

/**
 * Creates or updates an entity (docs/conventions.md#213-entities); without `by`, one with a generated name. Throws `invalid` or `forbidden` if the caller may not give its policies,
 * `conflict` if the name is in use, and `not_found` if there is no entity of a given ID.
 */
export async function saveEntity(
  context: DbContext,
  caller: Caller,
  by: By | undefined,
  change: EntityChange,
): Promise<SavedEntity> {
  const isNew = by === undefined || (await findEntityAt(context, caller, by)) === undefined;
  const saving = isNew
    ? createEntity(context, caller, by, change) // revokes nothing: it has no tokens yet
    : revoking(
        context.db,
        (tx) => updateStored(tx, caller, by, change),
        ({ id }) => [concern.entity(id)],
      );
  return saving.catch((error: unknown) => {
    throw isUniqueViolation(error) ? new Problem('conflict', 'an entity of this name exists') : error;
  });
}

type SavedEntity = Pick<EntityRow, 'id' | 'name'>;

async function updateStored(tx: Tx, caller: Caller, by: By, change: EntityChange): Promise<SavedEntity> {
  const stored = ifNamed(by, await lockEntity(tx, caller.namespace.id, storedBy(by)));
  if (stored === undefined) throw notFound();
  requireGrant(caller, true);
  const entity = changedEntity(caller, stored, change);
  await updateEntity(tx, stored.id, entity);
  return { id: stored.id, name: entity.name ?? stored.name };
}

async function createEntity(
  { db }: DbContext,
  caller: Caller,
  by: By | undefined,
  change: EntityChange,
): Promise<SavedEntity> {
  if (by !== undefined && 'id' in by) throw notFound();
  requireGrant(caller, false);
  const name = change.name ?? by?.name;
  if (name !== undefined && generated.test(name))
    throw invalid('name: entity_ and an ID is the name of another entity');
  const id = await insertEntity(db, caller.namespace.id, {
    name: name ?? null,
    policies: grantablePolicies(caller, change.policies),
    metadata: change.metadata ?? {},
    disabled: change.disabled ?? false,
  });
  if (id === undefined) throw notFound();
  return { id, name: name ?? generatedName + id };
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
