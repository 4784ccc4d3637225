import { concern } from '@secrets/access';
import { notFound } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { identityName } from '../identities/identity-fields.ts';
import { requireEntity } from '../identities/save-entity.ts';
import { saveEntityAlias } from '../identities/save-entity-alias.ts';
import {
  deleteEntityAlias,
  type EntityRow,
  findEntity,
  listAliasedEntities,
  nilId,
} from '../queries/entities.ts';
import { revoking } from '../queries/revocations.ts';
import { presentAlias } from './entities.ts';

const uuid = z.uuid('must be a UUID');
const Page = pageQuery({ max: 1_000, after: uuid });
const AliasParams = z.object({ id: uuid });
const AliasBody = z.object({
  name: identityName.optional(),
  mount_accessor: z.string().optional(),
  canonical_id: uuid.optional(),
});

const basePath = '/identity/entity-alias';
const listPath = `${basePath}/id`;
const path = `${listPath}/:id`;

/** `identity/entity-alias`: under which name an entity logs in (docs/conventions.md#213-entities). The ID of an alias is that of its entity. */
export const entityAliasEndpoints = (context: Context): Endpoint[] => [
  listAliases(context),
  readAlias(context),
  writeAlias(context),
  writeAliasAt(context),
  removeAlias(context),
];

const listAliases = (context: Context) =>
  endpoint({
    method: 'list',
    path: listPath,
    summary: 'List the aliases of the entities of this namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = nilId, limit } = query;
      const found = await listAliasedEntities(context.db, caller.namespace.id, { after, limit: limit + 1 });
      const page = cutToPage(requireAny(found), limit, ({ id }) => ({ after: id }), warn);
      const named = page.map((entity) => [entity.id, presentAliasOf(entity)] as const);
      return { data: { keys: named.map(([id]) => id), key_info: Object.fromEntries(named) } };
    },
  });

const readAlias = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the alias of an entity',
    params: AliasParams,
    handle: async ({ params, caller }) => ({
      data: presentAliasOf(await requireEntity(context, caller, params)),
    }),
  });

const writeAlias = (context: Context) =>
  endpoint({
    method: 'post',
    path: basePath,
    summary: 'Create the alias of an entity, or update the one of an ID',
    needs: 'create or update',
    body: AliasBody.extend({ id: uuid.optional() }),
    handle: async ({ body, caller }) => ({
      data: presentSaved(await saveEntityAlias(context, caller, body)),
    }),
  });

const writeAliasAt = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Update the alias of an entity; omitted fields keep their values',
    params: AliasParams,
    body: AliasBody,
    handle: async ({ params, body, caller }) => ({
      data: presentSaved(await saveEntityAlias(context, caller, { ...body, id: params.id })),
    }),
  });

const removeAlias = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary:
      'Delete the alias of an entity, which remains; the next login under its name creates another entity',
    params: AliasParams,
    handle: async ({ params, caller }) => {
      const entity = await findEntity(context.db, caller.namespace.id, params);
      if (entity === undefined) return undefined;
      await revoking(context.db, (tx) => deleteEntityAlias(tx, entity.id), [concern.entity(entity.id)]);
      return undefined;
    },
  });

const presentSaved = ({ id }: { id: string }) => ({ id, canonical_id: id });

function presentAliasOf(entity: EntityRow) {
  const [alias] = entity.aliases;
  if (alias === undefined) throw notFound();
  return presentAlias(entity, alias);
}
