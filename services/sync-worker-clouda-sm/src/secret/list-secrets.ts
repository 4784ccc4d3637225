import type { ListPage } from '@secrets/sync-worker';
import { belonging } from './ownership.ts';
import type { Store } from './store.ts';

/** Lists the secrets of the account in the destination's region. A list may be five minutes old. */
export async function listSecrets(store: Store, after: string | null): Promise<ListPage> {
  await store.account.require(store.signal);
  const { SecretList, NextToken } = await store.api.list(after ?? undefined, store.signal);
  for (const { ARN } of SecretList.slice(0, 1)) await store.account.requireArn(ARN);
  const secrets = SecretList.map((secret) => ({
    name: secret.Name,
    belongs: belonging(store, secret, undefined),
    isReadable: true,
    createdAt: secret.CreatedDate ?? null,
    changedAt: secret.LastChangedDate ?? null,
  }));
  return { secrets, next: NextToken ?? null };
}
