import { cutToPage, pageQuery, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import { changingMount } from '../../auth-mounts/changing-mount.ts';
import { type AuthMethodDeps, type MethodEndpoint, methodEndpoint } from '../auth-method.ts';
import { deleteRoleRow, listRoleNames, type RoleTable } from './queries/roles.ts';
import { type RoleWrite, requireRole, saveRole } from './stored-roles.ts';

const Page = pageQuery({ max: 100_000 });
const RoleParams = z.object({
  name: z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,127}$/, 'may contain only letters, digits and _.@-'),
});

const basePath = '/role';
const path = `${basePath}/:name`;

/** The roles of a method. */
interface Roles<Body extends z.ZodType> {
  table: RoleTable;
  body: Body;
  write(body: z.output<Body>, mountId: string): RoleWrite<object>;
  /** The settings of a row, as responses contain them. Throws what `readStored` throws. */
  present(settings: object, name: string): object;
}

type RolesContext = Pick<AuthMethodDeps, 'db' | 'rows'>;

/** `auth/<mount>/role/<name>`. */
export const roleEndpoints = <Body extends z.ZodType>(
  context: RolesContext,
  roles: Roles<Body>,
): MethodEndpoint[] => [
  listRoles(context, roles.table),
  readRole(context, roles),
  writeRole(context, roles),
  deleteRole(context, roles.table),
];

const listRoles = (context: RolesContext, table: RoleTable) =>
  methodEndpoint({
    method: 'list',
    path: basePath,
    summary: 'List the roles of an auth mount',
    query: Page,
    handle: async ({ mount, query, warn }) => {
      const { after = '', limit } = query;
      const range = { after: after.toLowerCase(), limit: limit + 1 };
      const names = requireNonEmpty(await listRoleNames(context.db, table, mount.id, range));
      return { data: { keys: cutToPage(names, limit, (name) => ({ after: name }), warn) } };
    },
  });

const readRole = (context: RolesContext, { table, present }: Pick<Roles<z.ZodType>, 'table' | 'present'>) =>
  methodEndpoint({
    method: 'get',
    path,
    summary: 'Read a role',
    params: RoleParams,
    handle: async ({ mount, params: { name } }) => ({
      data: present(await requireRole(context, table, { mountId: mount.id, name }), name),
    }),
  });

const writeRole = <Body extends z.ZodType>(context: RolesContext, { table, body, write }: Roles<Body>) =>
  methodEndpoint({
    method: 'post',
    path,
    summary: 'Create or update a role; omitted fields keep their values',
    needs: 'create or update',
    params: RoleParams,
    body,
    handle: async ({ mount, params: { name }, body, caller, warn }) => {
      const role = { mountId: mount.id, name };
      (await saveRole(context, caller, table, role, write(body as z.output<Body>, mount.id))).forEach(warn);
    },
  });

const deleteRole = (context: RolesContext, table: RoleTable) =>
  methodEndpoint({
    method: 'delete',
    path,
    summary: 'Delete a role; the tokens that it issued remain valid, but cannot be renewed',
    params: RoleParams,
    handle: ({ mount, params }) =>
      changingMount(context, mount.id, (tx) => deleteRoleRow(tx, table, mount.id, params.name)),
  });
