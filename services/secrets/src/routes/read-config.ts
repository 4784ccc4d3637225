import type { Context } from '../context.ts';
import { MountGone } from '../known-mounts.ts';
import { kvOperation } from '../kv-operation.ts';
import { presentRetention } from '../present-retention.ts';
import { findMount } from '../queries/mounts.ts';

export const readConfig = (context: Context) =>
  kvOperation({
    method: 'get',
    kind: 'config',
    path: 'none',
    summary: 'read what a mount keeps of old versions',
    handle: async ({ mount }) => {
      const found = await findMount(context.db, mount.namespaceId, mount.path);
      if (found === undefined) throw new MountGone();
      return { data: presentRetention(found) };
    },
  });
