import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { AuthMethods } from './auth-methods/registry.ts';
import type { MountTypes } from './auth-mounts/mount-types.ts';

/** What the endpoints of this service use. */
export interface Context {
  db: Db;
  keys: InternalKeys;
  methods: AuthMethods;
  mountTypes: MountTypes;
  /** Counts logins: `issued`, the kind of problem, or `failed`. */
  loginCounter: { inc(labels: { outcome: string }): void };
}
