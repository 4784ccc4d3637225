import type { HandChange } from '../simulated-store.ts';
import { newSecret } from './operations/create-secret.ts';
import { defaultWindowMs } from './operations/delete-secret.ts';
import type { RegionStore } from './store/region-store.ts';
import type { RegionStores } from './store/region-stores.ts';
import type { Secret } from './store/secret.ts';
import { addVersion } from './store/secret-versions.ts';

interface Context {
  nowMs: number;
  /** Maximum number of versions per secret. */
  limit: number;
}

/** Changes every secret with this name that is not scheduled for deletion. A replica changes with its primary. */
export function changeByHand(regions: RegionStores, change: HandChange, context: Context): number {
  const changed = [...regions.all()]
    .filter(({ region }) => change.region === undefined || region === change.region)
    .map((store) => [store, store.get(change.name)] as const)
    .filter(([, secret]) => secret && secret.primaryRegion === undefined && secret.deletedAtMs === undefined);
  for (const [store, secret] of changed) apply(store, secret!, change, context);
  return changed.length;
}

function apply(store: RegionStore, secret: Secret, change: HandChange, { nowMs, limit }: Context): void {
  if (change.action === 'delete') {
    Object.assign(secret, { deletedAtMs: nowMs, purgeAtMs: nowMs + defaultWindowMs });
    store.save(secret);
    return;
  }
  if (change.action === 'recreate') store.purge(secret);
  const written = change.action === 'edit' ? secret : newSecret({ store, nowMs }, { Name: secret.name });
  const { version, dropped } = addVersion(written, { SecretString: change.value }, { nowMs, limit });
  written.changedAtMs = nowMs;
  store.save(written, version, dropped);
}
