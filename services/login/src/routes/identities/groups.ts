import { changeTag } from '@secrets/access';
import { describedPage, type Endpoint, endpoint, pageQuery, stringList } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { identityMetadata, identityName, identityNameInPath } from '../../identities/identity-fields.ts';
import { nameWarnings, requireId } from '../../identities/named.ts';
import { findGroupAt, type GroupChange, requireGroup, saveGroup } from '../../identities/save-group.ts';
import { nilId } from '../../queries/entities.ts';
import { deleteGroup, type GroupRow, type IdOrName, listGroups } from '../../queries/groups.ts';
import { revoking } from '../../queries/tokens/revocations.ts';
import { policyNames } from '../../tokens/token-fields.ts';
import { presentAlias } from './alias-endpoints.ts';

const noMembers = stringList
  .refine((given) => given.length === 0, { error: 'must be empty: the directory knows the members' })
  .optional()
  .meta({ type: 'array', maxItems: 0 });
const GroupBody = z.object({
  name: identityName.optional(),
  type: z.literal('external', { error: 'must be external: the directory knows the members' }).optional(),
  policies: policyNames.optional(),
  metadata: identityMetadata.optional(),
  member_entity_ids: noMembers,
  member_group_ids: noMembers,
});

const basePath = '/identity/group';
const uuid = z.uuid('must be a UUID');
const paths = {
  id: {
    path: `${basePath}/id`,
    params: z.object({ id: uuid }),
    query: pageQuery({ max: 1_000, after: uuid }),
    first: nilId,
  },
  name: {
    path: `${basePath}/name`,
    params: z.object({ name: identityNameInPath }),
    query: pageQuery({ max: 1_000 }),
    first: '',
  },
};
type PathKind = keyof typeof paths;
const kinds = ['id', 'name'] as const;

/** `identity/group`: what members of a directory's groups may do besides (docs/conventions/access.md#groups). */
export const groupEndpoints = (context: Context): Endpoint[] => [
  ...kinds.map((kind) => listGroupsBy(context, kind)),
  ...kinds.map((kind) => readGroup(context, kind)),
  writeGroup(context),
  ...kinds.map((kind) => writeGroupAt(context, kind)),
  ...kinds.map((kind) => removeGroup(context, kind)),
];

const listGroupsBy = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'list',
    path: paths[kind].path,
    summary: `List the groups of this namespace by ${kind}`,
    query: paths[kind].query,
    handle: async ({ query, caller, warn }) => {
      const { after = paths[kind].first, limit } = query;
      const found = await listGroups(context.db, caller.namespace.id, kind, { after, limit: limit + 1 });
      const page = describedPage(found, {
        limit,
        warn,
        keyOf: (group) => group[kind],
        present: presentInList,
      });
      const names = found.slice(0, limit).map(({ name }) => name);
      for (const sentence of await nameWarnings(context.db, 'groups', caller.namespace.id, names))
        warn(sentence);
      return { data: page };
    },
  });

const readGroup = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'get',
    path: `${paths[kind].path}/:${kind}`,
    summary: `Read a group by its ${kind}`,
    params: paths[kind].params,
    handle: async ({ params, caller }) => ({
      data: presentGroup(await requireGroup(context, caller, params as IdOrName)),
    }),
  });

const writeGroup = (context: Context) =>
  endpoint({
    method: 'post',
    path: basePath,
    summary: 'Create a group, or update the one of an ID or a name; omitted fields keep their values',
    needs: 'create or update',
    body: GroupBody.extend({ id: uuid.optional() }).refine(
      ({ id, name }) => id !== undefined || name !== undefined,
      { error: 'is required', path: ['name'] },
    ),
    handle: async ({ body: { id, ...change }, caller }) => ({
      data: presentSaved(await saveGroup(context, caller, id ? { id } : { name: change.name! }, change)),
    }),
  });

const writeGroupAt = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'post',
    path: `${paths[kind].path}/:${kind}`,
    summary:
      kind === 'id'
        ? 'Update the group of an ID; omitted fields keep their values'
        : 'Create or update a group',
    needs: 'create or update',
    params: paths[kind].params,
    body: GroupBody.extend({ id: uuid.optional() }),
    handle: async ({ params, body: { id, ...body }, caller }) => {
      if (id !== undefined) requireId(id, await findGroupAt(context, caller, params as IdOrName));
      const change: GroupChange = kind === 'id' ? body : { ...body, name: undefined };
      return { data: presentSaved(await saveGroup(context, caller, params as IdOrName, change)) };
    },
  });

const removeGroup = (context: Context, kind: PathKind) =>
  endpoint({
    method: 'delete',
    path: `${paths[kind].path}/:${kind}`,
    summary: 'Delete a group and its alias; its members lose its policies',
    params: paths[kind].params,
    handle: async ({ params, caller }) => {
      const group = await findGroupAt(context, caller, params as IdOrName);
      const tags = [changeTag.groups(caller.namespace.id)];
      if (group !== undefined) await revoking(context.db, (tx) => deleteGroup(tx, group.id), tags);
    },
  });

const presentSaved = ({ id, name }: Pick<GroupRow, 'id' | 'name'>) => ({ id, name });

const presentInList = ({ name, namespaceId, policies, alias }: GroupRow) => ({
  name,
  policies,
  type: 'external',
  ...(alias === null ? {} : { alias: presentAlias(alias, namespaceId) }),
});

export const presentGroup = (group: GroupRow) => ({
  id: group.id,
  name: group.name,
  type: 'external',
  policies: group.policies,
  metadata: group.metadata,
  namespace_id: group.namespaceId,
  alias: group.alias === null ? {} : presentAlias(group.alias, group.namespaceId),
  member_entity_ids: [],
  member_group_ids: [],
  parent_group_ids: [],
  modify_index: group.updatedAt.getTime(),
  creation_time: group.createdAt.toISOString(),
  last_update_time: group.updatedAt.toISOString(),
});
