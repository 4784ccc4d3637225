import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { enableMount as enable } from '../enable-mount.ts';
import { description } from '../fields.ts';
import { checkMountPath } from '../mount-path.ts';
import { MountConfig, MountOptions, mountChange } from '../mount-settings.ts';

const MountType = z
  .string()
  .refine((given) => given !== 'kv-v1', {
    error: 'version 1 of the key-value store is not offered; mount kv-v2',
  })
  .refine((given) => ['kv', 'kv-v1', 'kv-v2'].includes(given), { error: 'must be kv' });

export const enableMount = (context: Context) =>
  endpoint({
    method: 'post',
    path: '/sys/mounts/*path',
    summary: 'mount a versioned key-value store',
    params: z.object({ path: z.string() }),
    body: z.object({
      type: MountType,
      description: description.optional(),
      options: MountOptions,
      config: MountConfig,
    }),
    handle: async ({ params, body, caller }) => {
      const change = mountChange(body.config, body.description);
      await enable(context.db, caller.namespace.id, checkMountPath(params.path), change);
      return undefined;
    },
  });
