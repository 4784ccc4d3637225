import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { KnownMounts } from './known-mounts.ts';

/** What the endpoints of this service work with. */
export interface Kv {
  db: Db;
  keyRing: KeyRing;
  log: Logger;
  mounts: KnownMounts;
  /** Says that a change of a watched secret was committed. */
  changed: () => void;
  /** Says that a mount was disabled. */
  disabled: () => void;
}
