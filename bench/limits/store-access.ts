import type { Api } from '../system/api-client.ts';

/** Address and credentials of the simulated store. */
export interface StoreAccess {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/** Reads the access to the store cloudA-sm from the control API of a sandbox. */
export async function storeAccess(sandboxUrl: string, control: Api): Promise<StoreAccess> {
  const about = (await control('GET', 'about')) as {
    stores: Record<string, { path: string; credentials: { accessKeyId: string; secretAccessKey: string } }>;
  };
  const store = about.stores['cloudA-sm'];
  if (store === undefined) throw new Error('the sandbox has no store cloudA-sm');
  const { accessKeyId, secretAccessKey } = store.credentials;
  return { endpoint: sandboxUrl + store.path, region: 'eu-west-1', accessKeyId, secretAccessKey };
}
