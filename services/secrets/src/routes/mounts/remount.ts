import { requireFound } from '@secrets/domain';
import { type Endpoint, endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../../context.ts';
import { mountPath, newMountPath } from '../../mounts/mount-path.ts';
import { moveMount } from '../../mounts/move-mount.ts';
import { findMove } from '../../queries/mounts/mounts.ts';

const Remount = z.object({
  from: mountPath.refine((path) => !/^auth(\/|$)/.test(path), { error: 'auth mounts cannot be moved' }),
  to: newMountPath,
});

/** `sys/remount` (docs/conventions/secrets.md#mounts). */
export const remountEndpoints = (context: Context): Endpoint[] => [move(context), readMove(context)];

const move = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/remount',
    summary: 'Move a mount to another path, with its secrets and associations',
    access: { needsSudo: true },
    body: Remount,
    handle: async ({ body, caller }) => ({
      data: { migration_id: await moveMount(context, caller, body) },
    }),
  });

/** Clients ask until the move has succeeded. Here, it has before they know its ID. */
const readMove = (context: Context) =>
  endpoint({
    method: 'get',
    path: '/sys/remount/status/:id',
    summary: 'Read the newest move of a mount by its ID',
    params: z.object({ id: z.uuid() }),
    handle: async ({ params, caller }) => {
      const found = requireFound(await findMove(context.db, caller.namespace.id, params.id));
      const info = { source_mount: `${found.from}/`, target_mount: `${found.to}/`, status: 'success' };
      return { data: { migration_id: params.id, migration_info: info } };
    },
  });
