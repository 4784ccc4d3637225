import type { Caller } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import { endpoint, flag, integer } from '@secrets/http';
import { readSyncConfig } from '@secrets/sync-entries';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { resetSyncConfig, writeSyncConfig } from '../queries/sync-config.ts';

const path = '/sys/sync/config';

export const readConfig = ({ db }: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the sync configuration',
    handle: async ({ caller }) => {
      assertAdministrative(caller);
      return presentConfig(await readSyncConfig(db));
    },
  });

export const patchConfig = ({ db, queue }: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Switch syncing off or on, or change how many operations may wait',
    body: z.object({
      disabled: flag.optional(),
      queue_capacity: integer.refine((count) => count >= 1, 'must be 1 or more').optional(),
    }),
    handle: async ({ caller, body }) => {
      assertAdministrative(caller);
      const config = await writeSyncConfig(db, body.disabled ?? null, body.queue_capacity ?? null);
      queue.notify();
      return presentConfig(config);
    },
  });

export const deleteConfig = ({ db }: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Set the sync configuration back to its defaults',
    handle: async ({ caller }) => {
      assertAdministrative(caller);
      await resetSyncConfig(db);
      return undefined;
    },
  });

/** Only the root and the administrative namespace have this path (docs/conventions.md#28-namespaces). */
function assertAdministrative(caller: Caller): void {
  if (!['', 'admin'].includes(caller.namespace.path)) throw notFound();
}

const presentConfig = (config: { disabled: boolean; queueCapacity: number }) => ({
  data: { disabled: config.disabled, queue_capacity: config.queueCapacity },
  mountType: 'system',
});
