import type { Caller } from '@secrets/caller';
import { invalid, notFound } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import { mountPath } from '../cloudb/mount-path.ts';
import type { Context } from '../context.ts';
import {
  type AuthMount,
  authMountByPath,
  authMounts,
  deleteAuthMount,
  insertAuthMount,
} from '../queries/auth-mounts.ts';
import { requireGrant } from '../require-grant.ts';

const params = z.object({ path: z.string() });

/** `sys/auth/<path>` (docs/conventions.md#29-auth-mounts). */
export const authMountEndpoints = (context: Context): Endpoint[] => [
  readAll(context),
  list(context),
  read(context),
  enable(context),
  disable(context),
];

const presentMount = ({ type, accessor, description }: Omit<AuthMount, 'id' | 'path'>) => ({
  type,
  accessor,
  description,
});

/** The tokens' own mount: it stands in every namespace. */
const builtIn = ({ namespace }: Caller) => ({
  type: 'token',
  accessor: `auth_token_${namespace.id}`,
  description: 'built in',
});

const readAll = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/auth',
    summary: 'Read the auth mounts of this namespace',
    handle: async ({ caller }) => ({ data: await byPath(context, caller) }),
  });

const list = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/auth',
    summary: 'List the auth mounts of this namespace',
    handle: async ({ caller }) => {
      const mounts = await byPath(context, caller);
      return { data: { keys: Object.keys(mounts), key_info: mounts } };
    },
  });

async function byPath(
  context: Context,
  caller: Caller,
): Promise<Record<string, ReturnType<typeof presentMount>>> {
  const mounts = await authMounts(context.db, caller.namespace.id);
  const named = mounts.map((mount) => [`${mount.path}/`, presentMount(mount)] as const);
  return Object.fromEntries([...named, ['token/', builtIn(caller)]]);
}

const read = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/auth/*path',
    summary: 'Read an auth mount',
    params,
    handle: async ({ params: { path }, caller }) => {
      if (path === 'token') return { data: { ...builtIn(caller), path: 'token/' } };
      const mount = await authMountByPath(context.db, caller.namespace.id, path.replace(/\/$/, ''));
      if (mount === undefined) throw notFound();
      return { data: { ...presentMount(mount), path: `${mount.path}/` } };
    },
  });

const enable = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/auth/*path',
    summary: 'Enable the login method at a path',
    params,
    body: z.object({
      type: z.string(),
      description: z.string().max(1_024).default(''),
    }),
    handle: async ({ params, body, caller }) => {
      const path = mountPath(params.path);
      if (body.type !== 'cloudB') throw invalid('type: must be cloudB');
      requireGrant(caller, (await authMountByPath(context.db, caller.namespace.id, path)) !== undefined);
      await insertAuthMount(context.db, caller.namespace.id, { path, description: body.description });
      return undefined;
    },
  });

const disable = (context: Context) =>
  endpoint({
    method: 'delete',
    path: '/sys/auth/*path',
    summary: 'Disable an auth mount; the tokens that it issued are revoked',
    params,
    handle: async ({ params: { path }, caller }) => {
      if (path === 'token') throw invalid('path: token is built in');
      const mount = await authMountByPath(context.db, caller.namespace.id, path.replace(/\/$/, ''));
      if (mount !== undefined) await deleteAuthMount(context.db, mount.id);
      return undefined;
    },
  });
