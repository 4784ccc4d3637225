import { notFound, pluginNamed, trimSlashes } from '@secrets/domain';
import { cutToPage, type Endpoint, endpoint, type Request, requireNonEmpty } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { createMount } from '../../mounts/create-mount.ts';
import { mountPath, newMountPath } from '../../mounts/mount-path.ts';
import { presentByPath, presentMount, presentTune, withSlash } from '../../mounts/present-mount.ts';
import { removeMount } from '../../mounts/remove-mount.ts';
import { requireMount } from '../../mounts/require-mount.ts';
import { updateMount } from '../../queries/mounts/change-mounts.ts';
import { listMountRows, type MountRow } from '../../queries/mounts/mounts.ts';
import { Page } from '../list-page.ts';
import { mountChange, mountFields, mountType, tunedFields } from './mount-fields.ts';

const MountParams = z.object({ path: mountPath });
const NewMountParams = z.object({ path: newMountPath });
const MountBody = z.object({ type: mountType, plugin_name: pluginNamed('kv', 'kv-v2'), ...mountFields });
const TuneBody = z.object(tunedFields);

const basePath = '/sys/mounts';
const path = `${basePath}/*path`;
const tunePath = `${path}/tune`;

/** `sys/mounts/<path>` (docs/conventions/secrets.md#mounts). */
export const mountEndpoints = (context: Context): Endpoint[] => [
  listMounts(context),
  readMounts(context),
  readMount(context),
  enableMount(context),
  disableMount(context),
  readTune(context),
  tuneMount(context),
];

const listMounts = (context: Context) =>
  endpoint({
    method: 'list',
    path: basePath,
    summary: 'List the mounts of this namespace',
    query: Page,
    handle: async (request) => {
      const mounts = requireNonEmpty(await pageOfMounts(context, request));
      return { data: { keys: mounts.map(withSlash), key_info: presentByPath(mounts) } };
    },
  });

const readMounts = (context: Context) =>
  endpoint({
    method: 'get',
    path: basePath,
    summary: 'Read the mounts of this namespace',
    query: Page,
    handle: async (request) => ({ data: presentByPath(await pageOfMounts(context, request)) }),
  });

const readMount = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read a mount',
    params: MountParams,
    handle: async ({ params, caller }) => ({
      data: presentMount(await requireMount(context, caller, params.path)),
    }),
  });

const enableMount = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'Enable a key-value mount at a path',
    needs: 'create or update', // it only creates, so no further grant is required
    params: NewMountParams,
    body: MountBody,
    handle: ({ params, body, caller }) => createMount(context, caller, params.path, mountChange(body)),
  });

const disableMount = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Disable a key-value mount and delete everything in it',
    params: MountParams,
    handle: async ({ params, caller, warn }) => {
      const warning = await removeMount(context, caller, params.path);
      if (warning !== undefined) warn(warning);
    },
  });

const readTune = (context: Context) =>
  endpoint({
    method: 'get',
    path: tunePath,
    summary: 'Read the settings of a mount',
    params: MountParams,
    handle: async ({ params, caller }) => ({
      data: presentTune(await requireMount(context, caller, params.path)),
    }),
  });

const tuneMount = (context: Context) =>
  endpoint({
    method: 'post',
    path: tunePath,
    summary: 'Update the settings of a mount; omitted fields keep their values',
    params: MountParams,
    body: TuneBody,
    handle: async ({ params, body, caller }) => {
      const exists = await updateMount(context.db, caller.namespace.id, params.path, mountChange(body));
      if (!exists) throw notFound();
    },
  });

type PageRequest = Request<unknown, z.infer<typeof Page>, unknown>;

async function pageOfMounts(context: Context, { query, caller, warn }: PageRequest): Promise<MountRow[]> {
  const { after = '', limit } = query;
  const range = { after: trimSlashes(after), limit: limit + 1 };
  const mounts = await listMountRows(context.db, caller.namespace.id, range);
  return cutToPage(mounts, limit, (mount) => ({ after: withSlash(mount) }), warn);
}
