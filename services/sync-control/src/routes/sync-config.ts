import { type Caller, isAdministrative } from '@secrets/caller';
import { notFound } from '@secrets/domain';
import { type Endpoint, endpoint, flag, integer } from '@secrets/http';
import { defaultSyncConfig, readSyncConfig, type SyncConfig } from '@secrets/sync-entries';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { resetSyncConfig, updateSyncConfig } from '../queries/sync-config.ts';

/** Whether syncing is enabled, and how many operations may be pending (docs/conventions.md#51-sync-configuration). */
export const syncConfigEndpoints = (context: Context): Endpoint[] => [
  readConfig(context),
  patchConfig(context),
  deleteConfig(context),
];

const path = '/sys/sync/config';

const readConfig = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the sync configuration',
    handle: async ({ caller }) => {
      assertAdministrative(caller);
      return presentConfig(await readSyncConfig(context.db));
    },
  });

const patchConfig = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Enable or disable syncing, or change the maximum number of pending operations',
    body: z.object({
      // In a merge patch, null restores the default of a field.
      disabled: flag.nullish(),
      queue_capacity: integer.refine((count) => count >= 1, 'must be 1 or more').nullish(),
    }),
    handle: async ({ caller, body }) => {
      assertAdministrative(caller);
      const config = await updateSyncConfig(context.db, {
        disabled: body.disabled === null ? defaultSyncConfig.disabled : body.disabled,
        queueCapacity: body.queue_capacity === null ? defaultSyncConfig.queueCapacity : body.queue_capacity,
      });
      context.queue.notify();
      return presentConfig(config);
    },
  });

const deleteConfig = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Reset the sync configuration to its defaults',
    handle: async ({ caller }) => {
      assertAdministrative(caller);
      await resetSyncConfig(context.db);
      return undefined;
    },
  });

/** Only the root and the administrative namespace have this path (docs/conventions.md#28-namespaces). */
function assertAdministrative(caller: Caller): void {
  if (!isAdministrative(caller.namespace)) throw notFound();
}

const presentConfig = ({ disabled, queueCapacity }: SyncConfig) => ({
  data: { disabled, queue_capacity: queueCapacity },
  mountType: 'system',
});
