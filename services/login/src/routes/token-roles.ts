import { cutToPage, type Endpoint, endpoint, pageQuery, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { deleteTokenRole, listTokenRoleNames } from '../queries/tokens/token-roles.ts';
import { type TokenRole, TokenRoleBody, tokenRoleFields } from '../tokens/roles/role-settings.ts';
import { requireTokenRole, saveTokenRole } from '../tokens/roles/save-token-role.ts';

/** The name of a token role. Case matters. */
export const tokenRoleName = z
  .string()
  .regex(/^\w([\w.-]{0,126}\w)?$/, 'may contain only letters, digits, _, and within it - and .');

const Page = pageQuery({ max: 1_000 });
const RoleParams = z.object({ name: tokenRoleName });

const limitedPolicies =
  'tokens of this role have only policies of the token that creates them; to let them have all except the disallowed ones, write the role with sudo';

const basePath = '/auth/token/roles';
const path = `${basePath}/:name`;

/** `auth/token/roles/<name>` (docs/conventions/access.md#token-roles). */
export const tokenRoleEndpoints = (context: Context): Endpoint[] => [
  listRoles(context),
  readRole(context),
  writeRole(context),
  removeRole(context),
];

const listRoles = (context: Context) =>
  endpoint({
    method: 'list',
    path: basePath,
    summary: 'List the token roles of this namespace',
    query: Page,
    handle: async ({ query, caller, warn }) => {
      const { after = '', limit } = query;
      const found = await listTokenRoleNames(context.db, caller.namespace.id, { after, limit: limit + 1 });
      return { data: { keys: cutToPage(requireNonEmpty(found), limit, (name) => ({ after: name }), warn) } };
    },
  });

const readRole = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a token role',
    params: RoleParams,
    handle: async ({ params, caller }) => ({
      data: presentRole(await requireTokenRole(context, caller, params.name)),
    }),
  });

const writeRole = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create or update a token role; omitted fields keep their values',
    needs: 'create or update',
    params: RoleParams,
    body: TokenRoleBody,
    handle: async ({ params, body, caller, warn }) => {
      const { isLimited } = await saveTokenRole(context, caller, params.name, body);
      if (isLimited) warn(limitedPolicies);
    },
  });

const removeRole = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a token role; its tokens remain valid, but cannot be renewed',
    params: RoleParams,
    handle: ({ params, caller }) => deleteTokenRole(context.db, caller.namespace.id, params.name),
  });

/** Clients also read older names of some fields. */
const presentRole = (role: TokenRole) => ({
  ...tokenRoleFields.shown(role),
  name: role.name,
  allowed_entity_aliases: [],
  explicit_max_ttl: role.token_explicit_max_ttl,
  period: role.token_period,
});
