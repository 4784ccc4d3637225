import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';

/** The dependencies of the issuer of identity tokens. */
export interface IdentityContext {
  db: Db;
  keyRing: KeyRing;
}
