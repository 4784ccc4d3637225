import type { Endpoint } from '@secrets/http';
import type { SecretEventFeed } from '../changes/events/secret-event-feed.ts';
import type { Context } from '../context.ts';
import { eventEndpoints } from './events.ts';
import { importEndpoints } from './imports.ts';
import { internalEndpoints } from './internal.ts';
import { configEndpoints } from './kv/config.ts';
import { dataEndpoints } from './kv/data.ts';
import { kvRouter } from './kv/kv-router.ts';
import { metadataEndpoints } from './kv/metadata.ts';
import { subkeysEndpoints } from './kv/subkeys.ts';
import { versionsEndpoints } from './kv/versions.ts';
import { mountEndpoints } from './mounts/mounts.ts';
import { remountEndpoints } from './mounts/remount.ts';
import { uiMountEndpoints } from './mounts/ui-mounts.ts';

/** Every endpoint of this service. */
export const allEndpoints = (context: Context, events: SecretEventFeed): Endpoint[] => [
  ...eventEndpoints(events),
  ...mountEndpoints(context),
  ...remountEndpoints(context),
  ...uiMountEndpoints(context),
  ...internalEndpoints(context),
  ...importEndpoints(context),
  ...kvRouter(context.mounts, [
    ...configEndpoints(context),
    ...dataEndpoints(context),
    ...versionsEndpoints(context),
    ...metadataEndpoints(context),
    ...subkeysEndpoints(context),
  ]),
];
