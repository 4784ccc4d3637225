import type { Endpoint } from '@secrets/http';
import type { Context } from '../context.ts';
import type { KvOperation } from '../kv-operation.ts';
import { changeVersionsOf } from './change-versions.ts';
import { deleteData } from './delete-data.ts';
import { deleteMetadata } from './delete-metadata.ts';
import { disableMount } from './disable-mount.ts';
import { enableMount } from './enable-mount.ts';
import { findMount } from './find-mount.ts';
import { inspectSecrets } from './inspect-secrets.ts';
import { listMountPaths, readMounts } from './list-mounts.ts';
import { listSecrets } from './list-secrets.ts';
import { locateMount } from './locate-mount.ts';
import { patchData } from './patch-data.ts';
import { patchMetadata } from './patch-metadata.ts';
import { readConfig } from './read-config.ts';
import { readData } from './read-data.ts';
import { readMetadata } from './read-metadata.ts';
import { readMount } from './read-mount.ts';
import { readSubkeys } from './read-subkeys.ts';
import { readTune, writeTune } from './tune-mount.ts';
import { watchSecret } from './watch-secret.ts';
import { writeConfig } from './write-config.ts';
import { writeData } from './write-data.ts';
import { writeMetadata } from './write-metadata.ts';

/** `sys/mounts`; `tune` comes before the wildcard that would take it. */
export const mountEndpoints = (context: Context): Endpoint[] => [
  readTune(context),
  writeTune(context),
  listMountPaths(context),
  readMounts(context),
  enableMount(context),
  readMount(context),
  disableMount(context),
  locateMount(context),
];

/** For sync-control. */
export const internalEndpoints = (context: Context): Endpoint[] => [
  watchSecret(context),
  inspectSecrets(context),
  findMount(context),
];

/** Everything below a mount. */
export const kvOperations = (context: Context): KvOperation[] => [
  readConfig(context),
  writeConfig(context),
  readData(context),
  writeData(context),
  patchData(context),
  deleteData(context),
  changeVersionsOf(context, 'delete'),
  changeVersionsOf(context, 'undelete'),
  changeVersionsOf(context, 'destroy'),
  readMetadata(context),
  writeMetadata(context),
  patchMetadata(context),
  deleteMetadata(context),
  listSecrets(context),
  readSubkeys(context),
];
