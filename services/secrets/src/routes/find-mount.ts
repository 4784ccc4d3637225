import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { withoutEndSlashes } from '../mount-path.ts';
import { findMount as query } from '../queries/mounts.ts';

export const findMount = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/internal/mounts/find',
    summary: 'find the mount at a path',
    from: 'sync-control',
    body: z.object({ namespace_id: z.string(), mount: z.string() }),
    handle: async ({ body }) => {
      const mount = await query(context.db, body.namespace_id, withoutEndSlashes(body.mount));
      return { data: mount === undefined ? null : { mount_id: mount.id, accessor: mount.accessor } };
    },
  });
