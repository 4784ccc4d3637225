import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { AuthMethods } from './auth-methods/registry.ts';
import type { MountTypes } from './auth-mounts/mount-types.ts';
import type { StoreLoginToken } from './tokens/store-login-token.ts';

/** What the endpoints of this service use. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  methods: AuthMethods;
  mountTypes: MountTypes;
  storeLoginToken: StoreLoginToken;
  /** Counts logins: `issued`, the kind of problem, or `failed`. */
  loginCounter: { inc(labels: { outcome: string }): void };
}
