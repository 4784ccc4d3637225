import { concern } from '@secrets/access';
import { cutToPage, type Endpoint, endpoint, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { identityName } from '../identities/identity-fields.ts';
import { requireGroupAlias, saveGroupAlias } from '../identities/save-group-alias.ts';
import { deleteGroupAlias, findGroupAlias, type GroupAliasRow, listGroupAliases } from '../queries/groups.ts';
import { revoking } from '../queries/revocations.ts';

const uuid = z.uuid('must be a UUID');
const Page = pageQuery({ max: 1_000, after: uuid });
const AliasParams = z.object({ id: uuid });
const AliasBody = z.object({
  name: identityName.optional(),
  mount_accessor: z.string().optional(),
  canonical_id: uuid.optional(),
});

/** Before all others. */
const nilId = '00000000-0000-0000-0000-000000000000';

const basePath = '/identity/group-alias';
const listPath = `${basePath}/id`;
const path = `${listPath}/:id`;

/** `identity/group-alias`: which group of a directory a group is (docs/conventions.md#214-groups). */
export const groupAliasEndpoints = (context: Context): Endpoint[] => [
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
    summary: 'List the aliases of the groups of this namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = nilId, limit } = query;
      const found = await listGroupAliases(context.db, caller.namespace.id, { after, limit: limit + 1 });
      const page = cutToPage(requireAny(found), limit, ({ id }) => ({ after: id }), warn);
      const named = page.map((alias) => [alias.id, presentGroupAlias(alias)] as const);
      return { data: { keys: named.map(([id]) => id), key_info: Object.fromEntries(named) } };
    },
  });

const readAlias = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the alias of a group',
    params: AliasParams,
    handle: async ({ params, caller }) => ({
      data: presentGroupAlias(await requireGroupAlias(context, caller, params.id)),
    }),
  });

const writeAlias = (context: Context) =>
  endpoint({
    method: 'post',
    path: basePath,
    summary: 'Create the alias of a group, or update the one of an ID, or of a mount and a name',
    needs: 'create or update',
    body: AliasBody.extend({ id: uuid.optional() }),
    handle: async ({ body, caller }) => ({ data: presentSaved(await saveGroupAlias(context, caller, body)) }),
  });

const writeAliasAt = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Update the alias of a group; omitted fields keep their values',
    params: AliasParams,
    body: AliasBody,
    handle: async ({ params, body, caller }) => ({
      data: presentSaved(await saveGroupAlias(context, caller, { ...body, id: params.id })),
    }),
  });

const removeAlias = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete the alias of a group, which has no members any more',
    params: AliasParams,
    handle: async ({ params, caller }) => {
      const alias = await findGroupAlias(context.db, caller.namespace.id, params.id);
      const concerns = [concern.groups(caller.namespace.id)];
      if (alias !== undefined) await revoking(context.db, (tx) => deleteGroupAlias(tx, alias.id), concerns);
      return undefined;
    },
  });

const presentSaved = ({ id, groupId }: { id: string; groupId: string }) => ({ id, canonical_id: groupId });

/** The alias of a group in a response. */
export const presentGroupAlias = (alias: GroupAliasRow) => ({
  id: alias.id,
  name: alias.name,
  canonical_id: alias.groupId,
  mount_accessor: alias.mountAccessor,
  mount_path: `auth/${alias.mountPath}/`,
  mount_type: alias.mountType,
});
