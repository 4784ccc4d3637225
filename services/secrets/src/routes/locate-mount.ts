import { notFound } from '@secrets/domain';
import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { mountCandidates, withoutEndSlashes } from '../mount-path.ts';
import { presentMount } from '../present-mount.ts';
import { findMount, findMountAt } from '../queries/mounts.ts';

/** What command lines ask first, to learn where a mount's path ends and which version it is. */
export const locateMount = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/internal/ui/mounts/*path',
    summary: 'find the mount under which a path lies',
    params: z.object({ path: z.string() }),
    handle: async ({ params, caller }) => {
      const { id: namespaceId } = caller.namespace;
      const paths = mountCandidates(`${withoutEndSlashes(params.path)}/`);
      const at = await findMountAt(context.db, namespaceId, paths);
      const mount = at && (await findMount(context.db, namespaceId, at.path));
      if (mount === undefined) throw notFound();
      return { data: { ...presentMount(mount), path: `${mount.path}/` } };
    },
  });
