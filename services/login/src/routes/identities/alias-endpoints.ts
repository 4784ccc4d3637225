import type { Caller } from '@secrets/caller';
import type { PageRange } from '@secrets/db';
import { describedPage, type Endpoint, endpoint, pageQuery, withOtherNames } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { identityMetadata, identityName } from '../../identities/identity-fields.ts';
import type { AliasChange } from '../../identities/require-alias-mount.ts';
import { nilId } from '../../queries/entities.ts';
import type { OwnedAlias } from '../../queries/groups.ts';

const uuid = z.uuid('must be a UUID');
const Page = pageQuery({ max: 1_000, after: uuid });
const AliasParams = z.object({ id: uuid });
const AliasBody = z.object({
  name: identityName.optional(),
  mount_accessor: z.string().optional(),
  canonical_id: uuid.optional(),
});
const EntityAliasBody = AliasBody.extend({ custom_metadata: identityMetadata.optional() });

/** The aliases of entities or of groups. */
export interface AliasResource {
  /** Below `identity/`. */
  name: 'entity-alias' | 'group-alias';
  owner: 'an entity' | 'a group';
  owners: 'entities' | 'groups';
  summaries: { write: string; remove: string };
  list(context: Context, caller: Caller, range: PageRange): Promise<OwnedAlias[]>;
  /** Warnings about the aliases of the namespace, which a list adds. */
  warnings?(context: Context, caller: Caller): Promise<string[]>;
  /** Throws `not_found` if there is none of this ID. */
  require(context: Context, caller: Caller, id: string): Promise<OwnedAlias>;
  save(context: Context, caller: Caller, change: AliasChange): Promise<{ id: string; ownerId: string }>;
  /** Removes the alias of this ID, if there is one. */
  remove(context: Context, caller: Caller, id: string): Promise<void>;
}

/** The endpoints of `identity/entity-alias` or `identity/group-alias`. */
export const aliasEndpoints = (context: Context, aliases: AliasResource): Endpoint[] => [
  listAliases(context, aliases),
  readAlias(context, aliases),
  writeAlias(context, aliases),
  writeAliasAt(context, aliases),
  removeAlias(context, aliases),
];

const bodyOf = ({ name }: AliasResource): typeof EntityAliasBody =>
  name === 'entity-alias' ? EntityAliasBody : (AliasBody as unknown as typeof EntityAliasBody);

/** The owner of an entity alias also has an older name. */
const named = <Shape extends z.ZodRawShape>(body: z.ZodObject<Shape>, { name }: AliasResource) =>
  name === 'entity-alias'
    ? withOtherNames(body, { canonical_id: 'entity_id' })
    : (body as unknown as ReturnType<typeof withOtherNames<Shape>>);

const basePath = ({ name }: AliasResource) => `/identity/${name}`;
const listPath = (aliases: AliasResource) => `${basePath(aliases)}/id`;
const pathOf = (aliases: AliasResource) => `${listPath(aliases)}/:id`;

const listAliases = (context: Context, aliases: AliasResource) =>
  endpoint({
    method: 'list',
    path: listPath(aliases),
    summary: `List the aliases of the ${aliases.owners} of this namespace`,
    query: Page,
    handle: async ({ query: { after = nilId, limit }, caller, warn }) => {
      const found = await aliases.list(context, caller, { after, limit: limit + 1 });
      const present = (alias: OwnedAlias) => presentAlias(alias, caller.namespace.id);
      const page = describedPage(found, { limit, warn, keyOf: ({ id }) => id, present });
      for (const sentence of (await aliases.warnings?.(context, caller)) ?? []) warn(sentence);
      return { data: page };
    },
  });

const readAlias = (context: Context, aliases: AliasResource) =>
  endpoint({
    method: 'get',
    path: pathOf(aliases),
    summary: `Read the alias of ${aliases.owner}`,
    params: AliasParams,
    handle: async ({ params: { id }, caller }) => ({
      data: presentAlias(await aliases.require(context, caller, id), caller.namespace.id),
    }),
  });

const writeAlias = (context: Context, aliases: AliasResource) =>
  endpoint({
    method: 'post',
    path: basePath(aliases),
    summary: aliases.summaries.write,
    needs: 'create or update',
    body: named(bodyOf(aliases).extend({ id: uuid.optional() }), aliases),
    handle: async ({ body, caller }) => ({ data: presentSaved(await aliases.save(context, caller, body)) }),
  });

const writeAliasAt = (context: Context, aliases: AliasResource) =>
  endpoint({
    method: 'post',
    path: pathOf(aliases),
    summary: `Update the alias of ${aliases.owner}; omitted fields keep their values`,
    params: AliasParams,
    body: named(bodyOf(aliases), aliases),
    handle: async ({ params: { id }, body, caller }) => ({
      data: presentSaved(await aliases.save(context, caller, { ...body, id })),
    }),
  });

const removeAlias = (context: Context, aliases: AliasResource) =>
  endpoint({
    method: 'delete',
    path: pathOf(aliases),
    summary: aliases.summaries.remove,
    params: AliasParams,
    handle: ({ params: { id }, caller }) => aliases.remove(context, caller, id),
  });

const presentSaved = ({ id, ownerId }: { id: string; ownerId: string }) => ({ id, canonical_id: ownerId });

/** The alias of an entity or a group in a response. */
export const presentAlias = (alias: OwnedAlias, namespaceId: string) => ({
  id: alias.id,
  name: alias.name,
  canonical_id: alias.ownerId,
  mount_accessor: alias.mountAccessor,
  mount_path: `auth/${alias.mountPath}/`,
  mount_type: alias.mountType,
  namespace_id: namespaceId,
  metadata: {},
  custom_metadata: alias.customMetadata ?? {},
  local: false,
  merged_from_canonical_ids: [],
});
