import type { Endpoint } from '@secrets/http';
import type { Kv } from '../kv.ts';
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
export const mountEndpoints = (kv: Kv): Endpoint[] => [
  readTune(kv),
  writeTune(kv),
  listMountPaths(kv),
  readMounts(kv),
  enableMount(kv),
  readMount(kv),
  disableMount(kv),
  locateMount(kv),
];

/** For sync-control. */
export const internalEndpoints = (kv: Kv): Endpoint[] => [watchSecret(kv), inspectSecrets(kv), findMount(kv)];

/** Everything below a mount. */
export const kvOperations = (kv: Kv): KvOperation[] => [
  readConfig(kv),
  writeConfig(kv),
  readData(kv),
  writeData(kv),
  patchData(kv),
  deleteData(kv),
  changeVersionsOf(kv, 'delete'),
  changeVersionsOf(kv, 'undelete'),
  changeVersionsOf(kv, 'destroy'),
  readMetadata(kv),
  writeMetadata(kv),
  patchMetadata(kv),
  deleteMetadata(kv),
  listSecrets(kv),
  readSubkeys(kv),
];
