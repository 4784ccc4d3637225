import { concern, generatedName } from '@secrets/access';
import { type Caller, requireGrant } from '@secrets/caller';
import { isUniqueViolation, type Tx } from '@secrets/db';
import { invalid, notFound, Problem } from '@secrets/domain';
import type { DbContext } from '../db-context.ts';
import {
  type EntityRow,
  type EntitySettings,
  findEntity,
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
function storedBy(by: By): By {
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
 * Updates an entity (docs/conventions.md#213-entities). Throws `invalid` or `forbidden` if the caller may not give its policies, `conflict` if
 * the name is in use, and `not_found` if there is no such entity: only logins create them.
 */
export async function saveEntity(
  { db }: DbContext,
  caller: Caller,
  by: By,
  change: EntityChange,
): Promise<Pick<EntityRow, 'id' | 'name'>> {
  requireGrant(caller, true);
  const save = async (tx: Tx) => {
    const stored = ifNamed(by, await lockEntity(tx, caller.namespace.id, storedBy(by)));
    if (stored === undefined) throw notFound();
    const entity = changedEntity(caller, stored, change);
    await updateEntity(tx, stored.id, entity);
    return { id: stored.id, name: entity.name ?? stored.name };
  };
  return revoking(db, save, ({ id }) => [concern.entity(id)]).catch((error: unknown) => {
    throw isUniqueViolation(error) ? new Problem('conflict', 'an entity of this name exists') : error;
  });
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
