import type { CloudBSettings } from '@secrets/destinations';
import type { Owner } from '@secrets/sync-worker';
import type { VaultApi } from '../api/vault-api.ts';

/** Dependencies of a put or a removal. */
export interface Store {
  api: VaultApi;
  settings: CloudBSettings;
  owner: Owner;
  /** Aborts the put or the removal. */
  signal: AbortSignal;
}
