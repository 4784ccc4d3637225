import { type Caller, requireGrant } from '@secrets/caller';
import { invalid, notFound, trimSlashes } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, pageQuery, type Request, requireAny } from '@secrets/http';
import { z } from 'zod';
import { requireMountPath } from '../auth-mounts/mount-path.ts';
import type { Context } from '../context.ts';
import {
  type AuthMount,
  authMountByPath,
  authMounts,
  deleteAuthMount,
  insertAuthMount,
} from '../queries/auth-mounts.ts';

const path = '/sys/auth/*path';
const AuthMountParams = z.object({ path: z.string().transform(trimSlashes) });
const Page = pageQuery({ max: 10_000 });

/** `sys/auth/<path>` (docs/conventions.md#29-auth-mounts). */
export const authMountEndpoints = (context: Context): Endpoint[] => [
  readAuthMounts(context),
  listAuthMounts(context),
  readAuthMount(context),
  enableAuthMount(context),
  disableAuthMount(context),
];

const presentMount = ({ type, accessor, description }: Omit<AuthMount, 'id' | 'path'>) => ({
  type,
  accessor,
  description,
});

/** The mount of tokens, which exists in every namespace. */
const tokenMount = ({ namespace }: Caller) => ({
  type: 'token',
  accessor: `auth_token_${namespace.id}`,
  description: 'built in',
});

const readAuthMounts = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/auth',
    summary: 'Read the auth mounts of this namespace',
    query: Page,
    handle: async (request) => ({ data: Object.fromEntries(await pageOfMounts(context, request)) }),
  });

const listAuthMounts = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/auth',
    summary: 'List the auth mounts of this namespace',
    query: Page,
    handle: async (request) => {
      const mounts = requireAny(await pageOfMounts(context, request));
      return { data: { keys: mounts.map(([key]) => key), key_info: Object.fromEntries(mounts) } };
    },
  });

type PageRequest = Request<unknown, z.infer<typeof Page>, unknown>;

/** A page of auth mounts by their paths, including the built-in one. */
async function pageOfMounts(context: Context, { query: { after = '', limit }, caller, warn }: PageRequest) {
  const range = { after: trimSlashes(after), limit: limit + 1 };
  const enabled = await authMounts(context.db, caller.namespace.id, range);
  const presented = enabled.map((mount) => ({ path: mount.path, mount: presentMount(mount) }));
  const builtIn = range.after < 'token' ? [{ path: 'token', mount: tokenMount(caller) }] : [];
  const all = [...presented, ...builtIn].sort((one, other) => (one.path < other.path ? -1 : 1));
  const page = cutToPage(all, limit, ({ path }) => ({ after: `${path}/` }), warn);
  return page.map(({ path, mount }) => [`${path}/`, mount] as const);
}

const readAuthMount = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read an auth mount',
    params: AuthMountParams,
    handle: async ({ params: { path }, caller }) => {
      if (path === 'token') return { data: { ...tokenMount(caller), path: 'token/' } };
      const mount = await authMountByPath(context.db, caller.namespace.id, path);
      if (mount === undefined) throw notFound();
      return { data: { ...presentMount(mount), path: `${mount.path}/` } };
    },
  });

const enableAuthMount = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Enable a login method at a path',
    needs: 'create or update',
    params: AuthMountParams,
    body: z.object({ type: z.string(), description: z.string().max(1_024).default('') }),
    handle: async ({ params: { path }, body: { type, description }, caller }) => {
      requireMountPath(path, context.methods.callNames);
      if (context.methods.ofType(type) === undefined)
        throw invalid(`type: must be ${context.methods.all.map((method) => method.type).join(' or ')}`);
      requireGrant(caller, (await authMountByPath(context.db, caller.namespace.id, path)) !== undefined);
      await insertAuthMount(context.db, caller.namespace.id, { path, type, description });
      return undefined;
    },
  });

const disableAuthMount = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Disable an auth mount and revoke the tokens that it issued',
    params: AuthMountParams,
    handle: async ({ params: { path }, caller }) => {
      if (path === 'token') throw invalid('path: token is built in');
      const mount = await authMountByPath(context.db, caller.namespace.id, path);
      if (mount !== undefined) await deleteAuthMount(context.db, mount.id);
      return undefined;
    },
  });
