import { z } from 'zod';
import type { Context } from '../context.ts';
import { StaleMountError } from '../mounts/mount-ref.ts';
import { presentRetention, retentionChange, retentionFields } from '../mounts/retention.ts';
import { updateMount } from '../queries/change-mounts.ts';
import { findMount } from '../queries/mounts.ts';
import { type KvEndpoint, kvEndpoint } from './kv-endpoint.ts';

export const configEndpoints = (context: Context): KvEndpoint[] => [
  readConfig(context),
  writeConfig(context),
];

const readConfig = (context: Context) =>
  kvEndpoint({
    method: 'get',
    path: '/config',
    summary: 'Read how a mount keeps old versions',
    handle: async ({ mount }) => {
      const found = await findMount(context.db, mount.namespaceId, mount.path);
      if (found === undefined) throw new StaleMountError();
      return { data: presentRetention(found) };
    },
  });

const writeConfig = (context: Context) =>
  kvEndpoint({
    method: 'post',
    path: '/config',
    summary: 'Set how a mount keeps old versions; absent fields stay as they are',
    body: z.object(retentionFields),
    handle: async ({ mount, body }) => {
      const exists = await updateMount(context.db, mount.namespaceId, mount.path, retentionChange(body));
      if (!exists) throw new StaleMountError();
      return undefined;
    },
  });
