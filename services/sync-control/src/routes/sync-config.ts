import { type Endpoint, endpoint, flag, integerBetween } from '@secrets/http';
import { defaultSyncConfig, readSyncConfig, type SyncConfig } from '@secrets/sync-entries';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { resetSyncConfig, updateSyncConfig } from '../queries/sync-config.ts';

/** In a merge patch, null restores the default of a field. */
const ConfigPatch = z.object({
  disabled: flag.nullish(),
  queue_capacity: integerBetween(1, 999_999_999_999_999, 'must be 1 or more').nullish(),
});

const path = '/sys/sync/config';
const mountType = 'system';

/**
 * `sys/sync/config`: whether syncing is enabled, and how many operations may be pending
 * (docs/conventions/sync.md#sync-configuration).
 */
export const syncConfigEndpoints = (context: Context): Endpoint[] => [
  readConfig(context),
  patchConfig(context),
  deleteConfig(context),
];

const readConfig = (context: Context) =>
  endpoint({
    method: 'get',
    path,
    summary: 'Read the sync configuration',
    access: { isAdministrative: true },
    handle: async () => ({ data: presentConfig(await readSyncConfig(context.db)), mountType }),
  });

const patchConfig = (context: Context) =>
  endpoint({
    method: 'patch',
    path,
    summary: 'Update the sync configuration (merge patch); null restores a default',
    access: { isAdministrative: true },
    body: ConfigPatch,
    handle: async ({ body }) => {
      const config = await updateSyncConfig(context.db, {
        disabled: body.disabled === null ? defaultSyncConfig.disabled : body.disabled,
        queueCapacity: body.queue_capacity === null ? defaultSyncConfig.queueCapacity : body.queue_capacity,
      });
      context.queue.notify();
      return { data: presentConfig(config), mountType };
    },
  });

const deleteConfig = (context: Context) =>
  endpoint({
    method: 'delete',
    path,
    summary: 'Reset the sync configuration to its defaults',
    access: { isAdministrative: true },
    handle: async () => {
      await resetSyncConfig(context.db);
    },
  });

const presentConfig = ({ disabled, queueCapacity }: SyncConfig) => ({
  disabled,
  queue_capacity: queueCapacity,
});
