import type { Tx } from '@secrets/db';
import { notFound } from '@secrets/domain';
import type { Endpoint } from '@secrets/http';
import type { Context } from '../../context.ts';
import { requireEntity, tagsOfEntityChange } from '../../identities/save-entity.ts';
import { saveEntityAlias } from '../../identities/save-entity-alias.ts';
import {
  deleteEntityAlias,
  type EntityRow,
  findEntities,
  listAliasedEntities,
  listAliasesInOtherCase,
} from '../../queries/entities.ts';
import type { OwnedAlias } from '../../queries/groups.ts';
import { revoking } from '../../queries/tokens/revocations.ts';
import { type AliasResource, aliasEndpoints } from './alias-endpoints.ts';

const maxWarnings = 20;

/**
 * `identity/entity-alias`: under which name an entity logs in (docs/conventions/access.md#entities). The ID of an alias
 * is that of its entity.
 */
export const entityAliasEndpoints = (context: Context): Endpoint[] => aliasEndpoints(context, entityAliases);

const entityAliases: AliasResource = {
  name: 'entity-alias',
  owner: 'an entity',
  owners: 'entities',
  summaries: {
    write: 'Create the alias of an entity, or update the one of an ID',
    remove:
      'Delete the alias of an entity, which remains; the next login under its name creates another entity',
  },
  list: async ({ db }, caller, range) =>
    (await listAliasedEntities(db, caller.namespace.id, range)).map(aliasOf),
  warnings: async ({ db }, caller) =>
    (await listAliasesInOtherCase(db, caller.namespace.id, maxWarnings)).map(
      ({ name, entityId }) =>
        `the alias ${name} of entity ${entityId} differs from another one only in letter case; delete one of them`,
    ),
  require: async (context, caller, id) => aliasOf(await requireEntity(context, caller, { id })),
  save: saveEntityAlias,
  async remove({ db }, caller, id) {
    const [entity] = await findEntities(db, caller.namespace.id, { id });
    if (entity === undefined) return;
    const remove = async (tx: Tx) => {
      const concerned = await tagsOfEntityChange(tx, entity.id);
      await deleteEntityAlias(tx, entity.id);
      return concerned;
    };
    await revoking(db, remove, (concerned) => concerned);
  },
};

function aliasOf({ id, aliases: [alias] }: EntityRow): OwnedAlias {
  if (alias === undefined) throw notFound();
  return { ...alias, ownerId: id };
}
