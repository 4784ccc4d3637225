import { belongingOf, type ListPage } from '@secrets/sync-worker';
import { owned, requireProject, type Store } from './store.ts';

/** Lists the secrets of the project, or of the destination's location. It does not show their versions. */
export async function listSecrets(store: Store, after: string | null): Promise<ListPage> {
  const { secrets, next } = await store.api.list(after ?? '', store.signal);
  for (const secret of secrets.slice(0, 1)) await requireProject(store, secret);
  return {
    secrets: secrets.map(({ id, ...secret }) => ({
      name: id,
      belongs: belongingOf(store.owner, owned(id, secret, undefined)),
      isReadable: true,
      createdAt: new Date(Number.parseInt(secret.createTime, 10) * 1_000),
      changedAt: null,
    })),
    next: next || null,
  };
}
