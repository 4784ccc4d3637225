import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { FindVersion } from './kv/version-reader.ts';
import type { WriteVersion } from './kv/version-writer.ts';
import type { MountCache } from './mounts/mount-cache.ts';

/** What the endpoints of this service use. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  log: Logger;
  mounts: MountCache;
  findVersion: FindVersion;
  writeVersion: WriteVersion;
  /** Call after the commit of a change of a watched secret. */
  notifyChanged: () => void;
  /** Call after a mount was disabled. */
  notifyMountDisabled: () => void;
}
