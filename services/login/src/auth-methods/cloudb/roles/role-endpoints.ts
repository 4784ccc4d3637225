import { requireFound } from '@secrets/domain';
import { cutToPage, pageQuery, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import { believedSettings } from '../../../rows/believed-settings.ts';
import { type MethodEndpoint, methodEndpoint } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { findRole, listRoleNames } from '../queries/roles.ts';
import { removeRole } from './remove-role.ts';
import { roleKey } from './role-key.ts';
import { parseRole, RoleBody, type RoleSettings, roleFields } from './role-settings.ts';
import { saveRole } from './save-role.ts';

const Page = pageQuery({ max: 100_000 });
const RoleParams = z.object({
  name: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/, 'may contain only letters, digits and _.@-'),
});

const basePath = '/role';
const path = `${basePath}/:name`;

/** `auth/<mount>/role/<name>` (docs/conventions/cloudb.md#roles). */
export const roleEndpoints = (context: CloudBContext): MethodEndpoint[] => [
  listRoles(context),
  readRole(context),
  writeRole(context),
  deleteRole(context),
];

const listRoles = (context: CloudBContext) =>
  methodEndpoint({
    method: 'list',
    path: basePath,
    summary: 'List the roles of an auth mount',
    query: Page,
    handle: async ({ mount, query, warn }) => {
      const { after = '', limit } = query;
      const range = { after: after.toLowerCase(), limit: limit + 1 };
      const names = requireNonEmpty(await listRoleNames(context.db, mount.id, range));
      return { data: { keys: cutToPage(names, limit, (name) => ({ after: name }), warn) } };
    },
  });

const readRole = (context: CloudBContext) =>
  methodEndpoint({
    method: 'get',
    path,
    summary: 'Read a role',
    params: RoleParams,
    handle: async ({ mount, params }) => ({
      data: presentRole(await requireRole(context, mount.id, params.name)),
    }),
  });

const writeRole = (context: CloudBContext) =>
  methodEndpoint({
    method: 'post',
    path,
    summary: 'Create or update a role; omitted fields keep their values',
    needs: 'create or update',
    params: RoleParams,
    body: RoleBody,
    handle: async ({ mount, params, body, caller, warn }) => {
      const warnings = await saveRole(context, caller, { mountId: mount.id, name: params.name }, body);
      warnings.forEach(warn);
    },
  });

const deleteRole = (context: CloudBContext) =>
  methodEndpoint({
    method: 'delete',
    path,
    summary: 'Delete a role; the tokens that it issued remain valid, but cannot be renewed',
    params: RoleParams,
    handle: ({ mount, params }) => removeRole(context, mount.id, params.name),
  });

async function requireRole(
  { db, rows }: CloudBContext,
  mountId: string,
  name: string,
): Promise<RoleSettings> {
  const stored = requireFound(await findRole(db, mountId, name));
  return parseRole(believedSettings(rows, roleKey(mountId, name), stored), name);
}

const presentRole = (role: RoleSettings) => ({
  ...roleFields.shown(role),
  policies: role.token_policies,
});
