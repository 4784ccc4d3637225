import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { KnownMounts } from './known-mounts.ts';

/** What the endpoints of this service work with. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  log: Logger;
  mounts: KnownMounts;
  /** Call after the commit of a change of a watched secret. */
  notifyChanged: () => void;
  /** Call after a mount was disabled. */
  notifyMountDisabled: () => void;
}
