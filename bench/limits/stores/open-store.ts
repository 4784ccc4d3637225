import type { Api } from '../../system/api-client.ts';
import { cloudaClient } from './clouda.ts';
import { cloudbClient } from './cloudb.ts';
import { cloudcClient } from './cloudc.ts';
import { codehostClient } from './codehost.ts';
import type { StoreAddress, StoreClient } from './store-client.ts';
import { webhostClient } from './webhost.ts';

const clients: Readonly<Record<string, (address: StoreAddress) => StoreClient | Promise<StoreClient>>> = {
  'cloudA-sm': cloudaClient,
  'cloudB-kv': cloudbClient,
  'cloudC-sm': cloudcClient,
  codehost: codehostClient,
  'webhost-project': webhostClient,
};

/** Opens the provider's client of a type. Throws if it has none. */
export async function openStore(address: StoreAddress): Promise<StoreClient> {
  const open = clients[address.destinationType];
  if (open === undefined) throw new Error(`no client for ${address.destinationType}`);
  return open(address);
}

/** Reads the addresses of all stores from the control API of a sandbox, by destination type. */
export async function storeAddresses(sandboxUrl: string, control: Api): Promise<Map<string, StoreAddress>> {
  const { stores } = (await control('GET', 'about')) as {
    stores: Record<string, { path: string; credentials: Record<string, string> }>;
  };
  return new Map(
    Object.entries(stores).map(([destinationType, { path, credentials }]) => [
      destinationType,
      { destinationType, endpoint: sandboxUrl + path, sandboxUrl, credentials },
    ]),
  );
}
