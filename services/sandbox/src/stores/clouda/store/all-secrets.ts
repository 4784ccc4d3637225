import type { StoredSecret } from '../../simulated-store.ts';
import type { RegionStore } from './region-store.ts';
import type { RegionStores } from './region-stores.ts';
import type { Secret } from './secret.ts';
import { currentVersion } from './secret-versions.ts';

/** Every secret of every account and region, replicas included, as the sandbox shows them. */
export function allSecrets(regions: RegionStores): StoredSecret[] {
  return [...regions.all()].flatMap((region) =>
    [...region.all()].map((secret) => storedSecret(regions, region, secret)),
  );
}

function storedSecret(regions: RegionStores, { account, region }: RegionStore, secret: Secret): StoredSecret {
  const primary = regions.primaryOf(account, secret);
  const version = currentVersion(primary);
  return {
    name: secret.name,
    region,
    value: version?.text ?? version?.binary,
    tags: Object.fromEntries(primary.tags),
    version_count: primary.versions.size,
    deleted_at: secret.purgeAtMs === undefined ? null : new Date(secret.purgeAtMs).toISOString(),
    updated_at: new Date(primary.changedAtMs).toISOString(),
  };
}
