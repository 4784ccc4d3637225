import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Kv } from '../kv.ts';
import { withoutEndSlashes } from '../mount-path.ts';
import { disableMount as disable } from '../queries/mounts.ts';

export const disableMount = (kv: Kv) =>
  endpoint({
    method: 'delete',
    path: '/sys/mounts/*path',
    summary: 'unmount a store and purge everything in it; no error when there is none',
    params: z.object({ path: z.string() }),
    handle: async ({ params, caller }) => {
      if (await disable(kv.db, caller.namespace.id, withoutEndSlashes(params.path))) kv.notifyMountDisabled();
      return undefined;
    },
  });
