import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { AuthMethods } from './auth-methods/registry.ts';
import type { StoreLoginToken } from './tokens/store-login-token.ts';

/** The dependencies of the endpoints of this service. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  methods: AuthMethods;
  storeLoginToken: StoreLoginToken;
}
