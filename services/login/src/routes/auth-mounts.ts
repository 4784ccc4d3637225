import type { Caller } from '@secrets/access';
import { invalid, notFound } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import { mountPath } from '../cloudb/mount-path.ts';
import type { LoginApp } from '../login-app.ts';
import {
  type AuthMount,
  authMountByPath,
  authMounts,
  deleteAuthMount,
  insertAuthMount,
} from '../queries/auth-mounts.ts';
import { requireGrant } from '../require-grant.ts';

const params = z.object({ path: z.string() });

/** `sys/auth/<path>` (spec, section 4.1; decisions, section 2). */
export const authMountEndpoints = (app: LoginApp): Endpoint[] => [
  readAll(app),
  list(app),
  read(app),
  enable(app),
  disable(app),
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

const readAll = (app: LoginApp) =>
  endpoint({
    method: 'get',
    path: '/sys/auth',
    summary: 'Read the auth mounts of this namespace',
    handle: async ({ caller }) => ({ data: await byPath(app, caller) }),
  });

const list = (app: LoginApp) =>
  endpoint({
    method: 'list',
    path: '/sys/auth',
    summary: 'List the auth mounts of this namespace',
    handle: async ({ caller }) => {
      const mounts = await byPath(app, caller);
      return { data: { keys: Object.keys(mounts), key_info: mounts } };
    },
  });

async function byPath(
  app: LoginApp,
  caller: Caller,
): Promise<Record<string, ReturnType<typeof presentMount>>> {
  const mounts = await authMounts(app.db, caller.namespace.id);
  const named = mounts.map((mount) => [`${mount.path}/`, presentMount(mount)] as const);
  return Object.fromEntries([...named, ['token/', builtIn(caller)]]);
}

const read = (app: LoginApp) =>
  endpoint({
    method: 'get',
    path: '/sys/auth/*path',
    summary: 'Read an auth mount',
    params,
    handle: async ({ params: { path }, caller }) => {
      if (path === 'token') return { data: { ...builtIn(caller), path: 'token/' } };
      const mount = await authMountByPath(app.db, caller.namespace.id, path.replace(/\/$/, ''));
      if (mount === undefined) throw notFound();
      return { data: { ...presentMount(mount), path: `${mount.path}/` } };
    },
  });

const enable = (app: LoginApp) =>
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
      requireGrant(caller, (await authMountByPath(app.db, caller.namespace.id, path)) !== undefined);
      await insertAuthMount(app.db, caller.namespace.id, { path, description: body.description });
      return undefined;
    },
  });

const disable = (app: LoginApp) =>
  endpoint({
    method: 'delete',
    path: '/sys/auth/*path',
    summary: 'Disable an auth mount; the tokens that it issued are revoked',
    params,
    handle: async ({ params: { path }, caller }) => {
      if (path === 'token') throw invalid('path: token is built in');
      const mount = await authMountByPath(app.db, caller.namespace.id, path.replace(/\/$/, ''));
      if (mount !== undefined) await deleteAuthMount(app.db, mount.id);
      return undefined;
    },
  });
