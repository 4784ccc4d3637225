import { notFound } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import { mergedRole, RoleBody, type RoleSettings } from '../cloudb/role-settings.ts';
import type { Context } from '../context.ts';
import { changingMount, deleteRole, roleNames, roleOfMount, saveRole } from '../queries/cloudb.ts';
import { requireGrant } from '../require-grant.ts';
import { requireAuthMount } from './require-auth-mount.ts';

const params = z.object({
  mount: z.string(),
  name: z.string().regex(/^[\w][\w.@-]{0,127}$/, 'holds letters, digits and _.@- only'),
});
const path = '/auth/*mount/role/:name';

/** `auth/<mount>/role/<name>` (docs/conventions.md#32-roles). Names are case-insensitive. */
export const roleEndpoints = (context: Context): Endpoint[] => [
  list(context),
  read(context),
  write(context),
  remove(context),
];

const list = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/auth/*mount/role',
    summary: 'List the roles of a login method',
    params: z.object({ mount: z.string() }),
    handle: async ({ params: { mount }, caller }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      const keys = await roleNames(context.db, id);
      if (keys.length === 0) throw notFound();
      return { data: { keys } };
    },
  });

const read = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a role',
    params,
    handle: async ({ params: { mount, name }, caller }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      const role = await roleOfMount(context.db, id, name);
      if (role === undefined) throw notFound();
      return { data: { ...role, policies: role.token_policies } };
    },
  });

const write = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Create or change a role; fields that are left out stay as they are',
    params,
    body: RoleBody,
    handle: async ({ params: { mount, name }, body, caller, warn }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      const role = await changingMount(context.db, id, async (tx) => {
        const stored = await roleOfMount(tx, id, name);
        requireGrant(caller, stored !== undefined);
        const merged = mergedRole(stored, body);
        await saveRole(tx, id, name, merged);
        return merged;
      });
      if (bindsNobody(role))
        warn('the role lets nobody in until bound_service_principal_ids or bound_group_ids names somebody');
      return undefined;
    },
  });

const remove = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Delete a role; tokens that it gave live on but are not renewed',
    params,
    handle: async ({ params: { mount, name }, caller }) => {
      const { id } = await requireAuthMount(context, caller, mount);
      await changingMount(context.db, id, (tx) => deleteRole(tx, id, name));
      return undefined;
    },
  });

const bindsNobody = (role: RoleSettings): boolean =>
  [role.bound_service_principal_ids, role.bound_group_ids].every(
    (bound) => bound.length === 0 || bound.includes('*'),
  );
