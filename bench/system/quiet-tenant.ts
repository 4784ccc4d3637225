import { apiClient } from './api-client.ts';
import type { Product } from './product.ts';

/** A tenant whose reads are measured: a namespace with a secret, and the headers of a token that may read it. */
export async function prepareQuietTenant({ url, rootToken, api }: Product): Promise<Record<string, string>> {
  await api('POST', 'sys/namespaces/quiet', {});
  const own = apiClient(url, rootToken, 'quiet');
  await own('POST', 'sys/mounts/kv', { type: 'kv' });
  await own('POST', 'kv/data/app', { data: { password: 'p' } });
  await own('POST', 'sys/policies/acl/app', { policy: 'path "kv/data/*" { capabilities = ["read"] }' });
  const { auth } = (await own('POST', 'auth/token/create', { policies: ['app'] })) as {
    auth: { client_token: string };
  };
  return { 'x-service-token': auth.client_token, 'x-service-namespace': 'quiet' };
}
