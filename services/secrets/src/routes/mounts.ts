import { notFound, trimSlashes } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, type Request, requireAny } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { createMount } from '../mounts/create-mount.ts';
import { mountPath, newMountPath } from '../mounts/mount-path.ts';
import { mountOptions, presentMount } from '../mounts/present-mount.ts';
import { removeMount } from '../mounts/remove-mount.ts';
import { requireContainingMount, requireMount } from '../mounts/require-mount.ts';
import { presentRetention, retentionFields } from '../mounts/retention.ts';
import { updateMount } from '../queries/change-mounts.ts';
import { listMountRows, type MountRow } from '../queries/mounts.ts';
import { Page } from './list-page.ts';
import { MountType, mountChange, mountFields } from './mount-fields.ts';

export const mountEndpoints = (context: Context): Endpoint[] => [
  readMounts(context),
  listMountPaths(context),
  enableMount(context),
  readMount(context),
  disableMount(context),
  readTune(context),
  writeTune(context),
  locateMount(context),
];

const MountParams = z.object({ path: mountPath });

const readMounts = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/mounts',
    summary: 'Read all mounts of the namespace',
    query: Page,
    handle: async (request) => ({ data: byPath(await pageOfMounts(context, request)) }),
  });

const listMountPaths = (context: Context) =>
  endpoint({
    method: 'list',
    path: '/sys/mounts',
    summary: 'List the mounts of the namespace',
    query: Page,
    handle: async (request) => {
      const mounts = requireAny(await pageOfMounts(context, request));
      return { data: { keys: mounts.map(keyOf), key_info: byPath(mounts) } };
    },
  });

const enableMount = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/mounts/*path',
    summary: 'Mount a versioned key-value store',
    needs: 'create or update',
    params: z.object({ path: newMountPath }),
    body: z.object({ type: MountType, ...mountFields }),
    handle: async ({ params, body, caller }) => {
      await createMount(context, caller, params.path, mountChange(body));
      return undefined;
    },
  });

const readMount = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/mounts/*path',
    summary: 'Read a mount',
    params: MountParams,
    handle: async ({ params, caller }) => ({
      data: presentMount(await requireMount(context, caller, params.path)),
    }),
  });

const disableMount = (context: Context) =>
  endpoint({
    method: 'delete',
    path: '/sys/mounts/*path',
    summary: 'Unmount a store and purge everything in it; succeeds also if there is none',
    params: MountParams,
    handle: async ({ params, caller }) => {
      await removeMount(context, caller, params.path);
      return undefined;
    },
  });

const readTune = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/mounts/*path/tune',
    summary: 'Read the settings of a mount',
    params: MountParams,
    handle: async ({ params, caller }) => {
      const mount = await requireMount(context, caller, params.path);
      const { description } = mount;
      return { data: { ...presentRetention(mount), description, options: mountOptions } };
    },
  });

const writeTune = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/mounts/*path/tune',
    summary: 'Change the settings of a mount; absent fields stay as they are',
    params: MountParams,
    body: z.object({ ...retentionFields, ...mountFields }),
    handle: async ({ params, body, caller }) => {
      const exists = await updateMount(context.db, caller.namespace.id, params.path, mountChange(body));
      if (!exists) throw notFound();
      return undefined;
    },
  });

/** Command-line clients ask this first, to learn where the mount's path ends and which version the mount has. */
const locateMount = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/internal/ui/mounts/*path',
    summary: 'Find the mount that contains a path',
    params: MountParams,
    handle: async ({ params, caller }) => {
      const mount = await requireContainingMount(context, caller, params.path);
      return { data: { ...presentMount(mount), path: keyOf(mount) } };
    },
  });

type PageRequest = Request<unknown, z.infer<typeof Page>, unknown>;

async function pageOfMounts(context: Context, { query, caller, warn }: PageRequest): Promise<MountRow[]> {
  const { after = '', limit } = query;
  const range = { after: trimSlashes(after), limit: limit + 1 };
  const mounts = await listMountRows(context.db, caller.namespace.id, range);
  return cutToPage(mounts, limit, (mount) => ({ after: keyOf(mount) }), warn);
}

const keyOf = (mount: MountRow): string => `${mount.path}/`;

const byPath = (mounts: readonly MountRow[]) =>
  Object.fromEntries(mounts.map((mount) => [keyOf(mount), presentMount(mount)]));
