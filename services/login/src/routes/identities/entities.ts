import type { Tx } from '@secrets/db';
import { describedPage, type Endpoint, endpoint, flag, pageQuery } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { identityMetadata, identityName, identityNameInPath } from '../../identities/identity-fields.ts';
import { nameWarnings, requireId } from '../../identities/named.ts';
import {
  findEntityAt,
  requireEntity,
  saveEntity,
  storedBy,
  tagsOfEntityChange,
} from '../../identities/save-entity.ts';
import {
  deleteEntity,
  type EntityRow,
  listEntities,
  listEntitiesByName,
  nilId,
} from '../../queries/entities.ts';
import type { IdOrName } from '../../queries/groups.ts';
import { revoking } from '../../queries/tokens/revocations.ts';
import { policyNames } from '../../tokens/token-fields.ts';
import { presentAlias } from './alias-endpoints.ts';

const uuid = z.uuid('must be a UUID');
const Page = pageQuery({ max: 1_000, after: uuid });
const PageByName = pageQuery({ max: 1_000 });
const EntityBody = z.object({
  name: identityName.optional(),
  policies: policyNames.optional(),
  metadata: identityMetadata.optional(),
  disabled: flag.optional(),
});

const paths = {
  id: { path: '/identity/entity/id/:id', params: z.object({ id: uuid }) },
  name: { path: '/identity/entity/name/:name', params: z.object({ name: identityNameInPath }) },
};
type PathKind = keyof typeof paths;
const kinds = ['id', 'name'] as const;
/** `identity/entity`: who logs in (docs/conventions/access.md#entities). */
export const entityEndpoints = (context: Context): Endpoint[] => [
  listById(context),
  listByName(context),
  ...kinds.map((kind) => readEntity(context, kind)),
  writeEntityInBody(context),
  ...kinds.map((kind) => writeEntity(context, kind)),
  ...kinds.map((kind) => removeEntity(context, kind)),
];

const listById = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/identity/entity/id',
    summary: 'List the entities of this namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = nilId, limit } = query;
      const found = await listEntities(context.db, caller.namespace.id, { after, limit: limit + 1 });
      return { data: describedPage(found, { limit, warn, keyOf: ({ id }) => id, present: presentInList }) };
    },
  });

const listByName = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/identity/entity/name',
    summary: 'List the names of the entities of this namespace, chosen ones first',
    query: PageByName,
    handle: async ({ query: { after, limit }, caller, warn }) => {
      const range = { after: after === undefined ? undefined : storedBy({ name: after }), limit: limit + 1 };
      const found = await listEntitiesByName(context.db, caller.namespace.id, range);
      const page = describedPage(found, { limit, warn, keyOf: ({ name }) => name, present: presentInList });
      for (const sentence of await nameWarnings(context.db, 'entities', caller.namespace.id, page.keys))
        warn(sentence);
      return { data: page };
    },
  });

const readEntity = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'get',
    path: paths[kind].path,
    summary: `Read an entity by its ${kind}`,
    params: paths[kind].params,
    handle: async ({ params, caller }) => ({
      data: presentEntity(await requireEntity(context, caller, params as IdOrName)),
    }),
  });

const writeEntity = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'post',
    path: paths[kind].path,
    summary:
      kind === 'id'
        ? 'Update the entity of an ID; omitted fields keep their values'
        : 'Create or update an entity',
    needs: kind === 'id' ? 'update' : 'create or update',
    params: paths[kind].params,
    body: EntityBody.extend({ id: uuid.optional() }),
    handle: async ({ params, body: { id, ...change }, caller }) => {
      if (id !== undefined) requireId(id, await findEntityAt(context, caller, params as IdOrName));
      return { data: await saveEntity(context, caller, params as IdOrName, change) };
    },
  });

const writeEntityInBody = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/identity/entity',
    summary: 'Create an entity, or update the one of an ID or a name; omitted fields keep their values',
    needs: 'create or update',
    body: EntityBody.extend({ id: uuid.optional() }),
    handle: async ({ body: { id, ...change }, caller }) => {
      const named = change.name === undefined ? undefined : { name: change.name };
      return { data: await saveEntity(context, caller, id === undefined ? named : { id }, change) };
    },
  });

const removeEntity = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'delete',
    path: paths[kind].path,
    summary: 'Delete an entity and its alias; its tokens are refused, its next login creates another one',
    params: paths[kind].params,
    handle: async ({ params, caller }) => {
      const entity = await findEntityAt(context, caller, params as IdOrName);
      if (entity === undefined) return undefined;
      const remove = async (tx: Tx) => {
        const concerned = await tagsOfEntityChange(tx, entity.id);
        await deleteEntity(tx, entity.id);
        return concerned;
      };
      await revoking(context.db, remove, (concerned) => concerned);
      return undefined;
    },
  });

export const presentEntity = (entity: EntityRow) => ({
  id: entity.id,
  name: entity.name,
  policies: entity.policies,
  metadata: entity.metadata,
  disabled: entity.disabled,
  aliases: presentAliases(entity),
  group_ids: entity.groupIds,
  direct_group_ids: entity.groupIds,
  inherited_group_ids: [],
  merged_entity_ids: [],
  namespace_id: entity.namespaceId,
  creation_time: entity.createdAt.toISOString(),
  last_update_time: entity.updatedAt.toISOString(),
});

const presentInList = (entity: EntityRow) => ({ name: entity.name, aliases: presentAliases(entity) });

const presentAliases = ({ id, namespaceId, aliases }: EntityRow) =>
  aliases.map((alias) => presentAlias({ ...alias, ownerId: id }, namespaceId));
