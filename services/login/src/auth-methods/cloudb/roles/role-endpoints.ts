import { type Caller, requireGrant } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import { cutToPage, pageQuery, requireAny } from '@secrets/http';
import { z } from 'zod';
import { changingMount } from '../../../queries/auth-mounts.ts';
import { type MountEndpoint, mountEndpoint } from '../../auth-method.ts';
import type { CloudBContext } from '../cloudb-context.ts';
import { deleteRole, roleNames, roleOfMount, saveRole } from '../queries/roles.ts';
import { bindsPrincipals } from './denial-reason.ts';
import { mergedRole, RoleBody, type RoleSettings } from './role-settings.ts';

const RoleParams = z.object({
  name: z.string().regex(/^[\w][\w.@-]{0,127}$/, 'may contain only letters, digits and _.@-'),
});
const path = '/role/:name';

/** `auth/<mount>/role/<name>` (docs/conventions.md#32-roles). */
export const roleEndpoints = (context: CloudBContext): MountEndpoint[] => [
  listRoles(context),
  readRole(context),
  writeRole(context),
  deleteRoleEndpoint(context),
];

const listRoles = (context: CloudBContext) =>
  mountEndpoint({
    method: 'list',
    path: '/role',
    summary: 'List the roles of an auth mount',
    query: pageQuery({ max: 100_000 }),
    handle: async ({ mount, query: { after = '', limit }, warn }) => {
      const range = { after: after.toLowerCase(), limit: limit + 1 };
      const names = requireAny(await roleNames(context.db, mount.id, range));
      return { data: { keys: cutToPage(names, limit, (name) => ({ after: name }), warn) } };
    },
  });

const readRole = (context: CloudBContext) =>
  mountEndpoint({
    method: 'get',
    path,
    summary: 'Read a role',
    params: RoleParams,
    handle: async ({ mount, params: { name } }) => {
      const role = await roleOfMount(context.db, mount.id, name);
      if (role === undefined) throw notFound();
      return { data: { ...role, policies: role.token_policies } };
    },
  });

const writeRole = (context: CloudBContext) =>
  mountEndpoint({
    method: 'post',
    path,
    summary: 'Create or update a role; omitted fields keep their values',
    needs: 'create or update',
    params: RoleParams,
    body: RoleBody,
    handle: async ({ mount, params: { name }, body, caller, warn }) => {
      const role = await mergeRole(context, caller, { mountId: mount.id, name }, body);
      if (!bindsPrincipals(role))
        warn('the role matches no principal until bound_service_principal_ids or bound_group_ids names one');
      return undefined;
    },
  });

const mergeRole = (
  context: CloudBContext,
  caller: Caller,
  { mountId, name }: { mountId: string; name: string },
  body: RoleBody,
): Promise<RoleSettings> =>
  changingMount(context.db, mountId, async (tx) => {
    const stored = await roleOfMount(tx, mountId, name);
    requireGrant(caller, stored !== undefined);
    const role = mergedRole(stored, body);
    await saveRole(tx, mountId, name, role);
    return role;
  });

const deleteRoleEndpoint = (context: CloudBContext) =>
  mountEndpoint({
    method: 'delete',
    path,
    summary: 'Delete a role; the tokens that it issued remain valid, but cannot be renewed',
    params: RoleParams,
    handle: async ({ mount, params: { name } }) => {
      await changingMount(context.db, mount.id, (tx) => deleteRole(tx, mount.id, name));
      return undefined;
    },
  });
