import type { Owner } from '@secrets/sync-worker';
import type { VaultApi } from '../api/vault-api.ts';
import type { CloudBSettings } from '../settings.ts';

/** A connected destination: what put and remove work with. */
export interface Store {
  api: VaultApi;
  settings: CloudBSettings;
  owner: Owner;
}
