import { notFound } from '@secrets/domain';
import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { withoutEndSlashes } from '../mount-path.ts';
import { presentMount } from '../present-mount.ts';
import { findMount } from '../queries/mounts.ts';

export const readMount = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/mounts/*path',
    summary: 'read a mount',
    params: z.object({ path: z.string() }),
    handle: async ({ params, caller }) => {
      const mount = await findMount(context.db, caller.namespace.id, withoutEndSlashes(params.path));
      if (mount === undefined) throw notFound();
      return { data: presentMount(mount) };
    },
  });
