import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';

/** What the issuer of identity tokens uses. */
export interface IdentityContext {
  db: Db;
  keyRing: KeyRing;
}
