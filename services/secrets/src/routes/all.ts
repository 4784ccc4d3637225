import type { Endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import { configEndpoints } from './config.ts';
import { dataEndpoints } from './data.ts';
import { internalEndpoints } from './internal.ts';
import { kvRouter } from './kv-router.ts';
import { metadataEndpoints } from './metadata.ts';
import { mountEndpoints } from './mounts.ts';
import { remountEndpoints } from './remount.ts';
import { subkeysEndpoints } from './subkeys.ts';
import { uiMountEndpoints } from './ui-mounts.ts';
import { versionsEndpoints } from './versions.ts';

/** Every endpoint of this service. */
export const allEndpoints = (context: Context): Endpoint[] => [
  ...mountEndpoints(context),
  ...remountEndpoints(context),
  ...uiMountEndpoints(context),
  ...internalEndpoints(context),
  ...kvRouter(context.mounts, [
    ...configEndpoints(context),
    ...dataEndpoints(context),
    ...versionsEndpoints(context),
    ...metadataEndpoints(context),
    ...subkeysEndpoints(context),
  ]),
];
