import { z } from 'zod';
import type { Context } from '../../context.ts';
import { StaleMountError } from '../../mounts/mount-ref.ts';
import { presentRetention, retentionChange, retentionFields } from '../../mounts/retention.ts';
import { updateMount } from '../../queries/mounts/change-mounts.ts';
import { findMount } from '../../queries/mounts/mounts.ts';
import { type KvEndpoint, kvEndpoint } from './kv-endpoint.ts';

const path = '/config';

/** `<mount>/config`: what a mount's secrets inherit (docs/conventions/secrets.md#versions). */
export const configEndpoints = (context: Context): KvEndpoint[] => [
  readConfig(context),
  writeConfig(context),
];

const readConfig = (context: Context) =>
  kvEndpoint({
    method: 'get',
    path,
    summary: 'Read how a mount keeps versions',
    handle: async ({ mount }) => {
      const found = await findMount(context.db, mount.namespaceId, mount.path);
      if (found === undefined) throw new StaleMountError();
      return { data: presentRetention(found) };
    },
  });

const writeConfig = (context: Context) =>
  kvEndpoint({
    method: 'post',
    path,
    summary: 'Update how a mount keeps versions; omitted fields keep their values',
    body: z.object(retentionFields),
    handle: async ({ mount, body }) => {
      const exists = await updateMount(context.db, mount.namespaceId, mount.path, retentionChange(body));
      if (!exists) throw new StaleMountError();
    },
  });
