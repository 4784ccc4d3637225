import type { ListPage } from '@secrets/sync-worker';
import { belongingByTags } from './ownership.ts';
import type { Store } from './store.ts';

/** Lists the secrets of the vault, without deleted ones. */
export async function listSecrets({ api, owner, signal }: Store, after: string | null): Promise<ListPage> {
  const { secrets, next } = await api.list(after ?? undefined, signal);
  return {
    secrets: secrets.map(({ name, ...properties }) => ({
      name,
      belongs: belongingByTags(owner, name, { properties }),
      isReadable: properties.enabled,
      createdAt: properties.createdOn ?? null,
      changedAt: properties.updatedOn ?? null,
    })),
    next: next ?? null,
  };
}
