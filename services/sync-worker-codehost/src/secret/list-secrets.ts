import { type ListPage, parseResponse } from '@secrets/sync-worker';
import { ListedSecrets } from '../api/schema.ts';
import { pageSize } from '../api/secret-scope.ts';
import { type Store, withScope } from './store.ts';

/** Lists the secrets of the repository, the environment or the organization. The provider shows neither owners nor values. */
export async function listSecrets(store: Store, after: string | null): Promise<ListPage> {
  const { scope, signal } = store;
  const number = after === null ? 1 : Number(after);
  if (number === 1) await scope.place.require(signal);
  const { data } = await withScope(store, () => scope.list(signal, number));
  const { total_count: total, secrets } = parseResponse('listSecrets', ListedSecrets, data);
  return {
    secrets: secrets.map(({ name, created_at, updated_at }) => ({
      name,
      belongs: 'none',
      isReadable: false,
      createdAt: new Date(created_at),
      changedAt: new Date(updated_at),
    })),
    next: secrets.length > 0 && number * pageSize < total ? String(number + 1) : null,
  };
}
