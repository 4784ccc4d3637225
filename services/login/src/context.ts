import type { InternalKeys } from '@secrets/caller';
import type { Db } from '@secrets/db';
import type { KeyRing } from '@secrets/seal';
import type { Logger } from '@secrets/telemetry';
import type { DirectoryKeys } from './cloudb/directory-keys.ts';
import type { LoginTargets } from './cloudb/login-targets.ts';
import type { ProviderLookup } from './cloudb/provider-lookup.ts';

/** What an endpoint of this service works with. */
export interface Context {
  db: Db;
  keyRing: KeyRing;
  keys: InternalKeys;
  log: Logger;
  directory: DirectoryKeys;
  targets: LoginTargets;
  /** Asks the provider's API about machines; undefined where this installation cannot. */
  provider: ProviderLookup | undefined;
}
