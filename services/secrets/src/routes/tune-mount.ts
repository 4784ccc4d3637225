import { notFound, permissionDenied } from '@secrets/domain';
import { endpoint } from '@secrets/http';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { description, retentionFields } from '../fields.ts';
import { withoutEndSlashes } from '../mount-path.ts';
import { MountConfig, MountOptions, mountChange } from '../mount-settings.ts';
import { presentRetention } from '../present-retention.ts';
import { findMount, updateMount } from '../queries/mounts.ts';

const path = '/sys/mounts/*path/tune';
const params = z.object({ path: z.string() });

export const readTune = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'read the settings of a mount',
    params,
    handle: async ({ params, caller }) => {
      const mount = await findMount(context.db, caller.namespace.id, withoutEndSlashes(params.path));
      if (mount === undefined) throw notFound();
      return {
        data: { ...presentRetention(mount), description: mount.description, options: { version: '2' } },
      };
    },
  });

export const writeTune = (context: Context) =>
  endpoint({
    method: 'post',
    path,
    summary: 'change the settings of a mount; what is left out stays',
    params,
    body: z.object({
      ...retentionFields,
      description: description.optional(),
      options: MountOptions,
      config: MountConfig,
    }),
    handle: async ({ params, body, caller }) => {
      if (!caller.grants.includes('update')) throw permissionDenied();
      const change = mountChange({ ...body.config, ...definedOf(body) }, body.description);
      const isThere = await updateMount(
        context.db,
        caller.namespace.id,
        withoutEndSlashes(params.path),
        change,
      );
      if (!isThere) throw notFound();
      return undefined;
    },
  });

/** So that a setting that is absent at the top does not hide the same one in `config`. */
const definedOf = (body: Record<string, unknown>) =>
  Object.fromEntries(
    Object.keys(retentionFields)
      .filter((name) => body[name] !== undefined)
      .map((name) => [name, body[name]]),
  );
