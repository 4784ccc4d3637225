import type { RowSource } from '@secrets/access';
import type { Caller } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { Background } from './background.ts';
import type { FindVersion } from './kv/versions/version-reader.ts';
import type { WriteVersion } from './kv/versions/version-writer.ts';
import type { MountCache } from './mounts/mount-cache.ts';

/** Services that the endpoints use. */
export interface Context extends RowSource {
  db: Db;
  keyRing: KeyRing;
  log: Logger;
  mounts: MountCache;
  versions: {
    find: FindVersion;
    write: WriteVersion;
    /**
     * Returns the caller for whom sync-control has permitted what a text says.
     * @throws a problem (`forbidden`)
     */
    permittedBy(permit: string, text: string): Caller;
  };
  background: Pick<Background, 'notifyChanged' | 'notifyMountDisabled'>;
}
