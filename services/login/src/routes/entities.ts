import { concern } from '@secrets/access';
import { cutToPage, type Endpoint, endpoint, flag, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { identityMetadata, identityName } from '../identities/identity-fields.ts';
import { findEntityAt, requireEntity, saveEntity } from '../identities/save-entity.ts';
import { deleteEntity, type EntityAliasRow, type EntityRow, listEntities } from '../queries/entities.ts';
import type { By } from '../queries/groups.ts';
import { revoking } from '../queries/revocations.ts';
import { policyNames } from '../tokens/token-fields.ts';

const uuid = z.uuid('must be a UUID');
const Page = pageQuery({ max: 1_000, after: uuid });
/** Before all others. */
const nilId = '00000000-0000-0000-0000-000000000000';
const EntityBody = z.object({
  name: identityName.optional(),
  policies: policyNames.optional(),
  metadata: identityMetadata.optional(),
  disabled: flag.optional(),
});

const paths = {
  id: { path: '/identity/entity/id/:id', params: z.object({ id: uuid }) },
  name: { path: '/identity/entity/name/:name', params: z.object({ name: identityName }) },
};
type PathKind = keyof typeof paths;
const kinds = ['id', 'name'] as const;
const aliasListPath = '/identity/entity-alias/id';

/** `identity/entity` and `identity/entity-alias`: who has logged in (docs/conventions.md#213-entities). */
export const entityEndpoints = (context: Context): Endpoint[] => [
  listAll(context, '/identity/entity/id', 'List the entities of this namespace', presentInList),
  ...kinds.map((kind) => readEntity(context, kind)),
  ...kinds.map((kind) => writeEntity(context, kind)),
  ...kinds.map((kind) => removeEntity(context, kind)),
  listAll(context, aliasListPath, 'List the aliases of the entities of this namespace', presentOnlyAlias),
  readAlias(context),
];

const listAll = (
  context: Context,
  path: string,
  summary: string,
  present: (entity: EntityRow) => Record<string, unknown>,
) =>
  endpoint({
    method: 'list',
    path,
    summary,
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = nilId, limit } = query;
      const found = await listEntities(context.db, caller.namespace.id, { after, limit: limit + 1 });
      const page = cutToPage(requireAny(found), limit, ({ id }) => ({ after: id }), warn);
      const named = page.map((entity) => [entity.id, present(entity)] as const);
      return { data: { keys: named.map(([id]) => id), key_info: Object.fromEntries(named) } };
    },
  });

const readEntity = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'get',
    path: paths[kind].path,
    summary: `Read an entity by its ${kind}`,
    params: paths[kind].params,
    handle: async ({ params, caller }) => ({
      data: presentEntity(await requireEntity(context, caller, params as By)),
    }),
  });

const writeEntity = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'post',
    path: paths[kind].path,
    summary: `Update the entity of ${kind === 'id' ? 'an ID' : 'a name'}; omitted fields keep their values`,
    params: paths[kind].params,
    body: EntityBody,
    handle: async ({ params, body, caller }) => ({
      data: await saveEntity(context, caller, params as By, body),
    }),
  });

const removeEntity = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'delete',
    path: paths[kind].path,
    summary: 'Delete an entity and its alias; its tokens are refused, its next login creates another one',
    params: paths[kind].params,
    handle: async ({ params, caller }) => {
      const entity = await findEntityAt(context, caller, params as By);
      if (entity === undefined) return undefined;
      await revoking(context.db, (tx) => deleteEntity(tx, entity.id), [concern.entity(entity.id)]);
      return undefined;
    },
  });

const readAlias = (context: Context) =>
  endpoint({
    method: 'get',
    path: `${aliasListPath}/:id`,
    summary: 'Read the alias of an entity, whose ID is that of the entity',
    params: z.object({ id: uuid }),
    handle: async ({ params, caller }) => ({
      data: presentOnlyAlias(await requireEntity(context, caller, params)),
    }),
  });

const presentEntity = (entity: EntityRow) => ({
  id: entity.id,
  name: entity.name,
  policies: entity.policies,
  metadata: entity.metadata,
  disabled: entity.disabled,
  aliases: entity.aliases.map((alias) => presentAlias(entity, alias)),
  group_ids: entity.groupIds,
  direct_group_ids: entity.groupIds,
  namespace_id: entity.namespaceId,
  creation_time: entity.createdAt.toISOString(),
  last_update_time: entity.updatedAt.toISOString(),
});

const presentInList = (entity: EntityRow) => ({
  name: entity.name,
  aliases: entity.aliases.map((alias) => presentAlias(entity, alias)),
});

const presentOnlyAlias = (entity: EntityRow) => presentAlias(entity, entity.aliases[0]!);

const presentAlias = ({ id: entityId }: EntityRow, alias: EntityAliasRow) => ({
  id: alias.id,
  name: alias.name,
  canonical_id: entityId,
  mount_accessor: alias.mountAccessor,
  mount_path: `auth/${alias.mountPath}/`,
  mount_type: alias.mountType,
});
