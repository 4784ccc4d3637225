import { z } from 'zod';
import type { Context } from '../context.ts';
import { retentionFields } from '../fields.ts';
import { MountGone } from '../known-mounts.ts';
import { kvOperation } from '../kv-operation.ts';
import { updateMount } from '../queries/mounts.ts';

export const writeConfig = (context: Context) =>
  kvOperation({
    method: 'post',
    kind: 'config',
    path: 'none',
    summary: 'set what a mount keeps of old versions; what is left out stays',
    body: z.object(retentionFields),
    handle: async ({ mount, body }) => {
      const isThere = await updateMount(context.db, mount.namespaceId, mount.path, {
        maxVersions: body.max_versions,
        casRequired: body.cas_required,
        deleteAfterSeconds: body.delete_version_after,
      });
      if (!isThere) throw new MountGone();
      return undefined;
    },
  });
