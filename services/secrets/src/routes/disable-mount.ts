import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { withoutEndSlashes } from '../mount-path.ts';
import { disableMount as disable } from '../queries/mounts.ts';

export const disableMount = (context: Context) =>
  endpoint({
    method: 'delete',
    path: '/sys/mounts/*path',
    summary: 'unmount a store and purge everything in it; no error when there is none',
    params: z.object({ path: z.string() }),
    handle: async ({ params, caller }) => {
      if (await disable(context.db, caller.namespace.id, withoutEndSlashes(params.path)))
        context.notifyMountDisabled();
      return undefined;
    },
  });
