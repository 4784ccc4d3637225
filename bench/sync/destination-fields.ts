import type { StoreAddress } from '../limits/stores/store-client.ts';
import { credential } from '../limits/stores/store-client.ts';
import type { Api } from '../system/api-client.ts';

interface DestinationFields {
  /** The fields of the destination, from the address of its store. */
  of(address: StoreAddress): object;
  /** How many secrets are pushed at most: what the store permits, or what takes long enough. */
  maxSecrets: number;
  /** Whether external names have upper-case letters only. */
  isUpperCase: boolean;
}

/** The destinations of the benchmark, by type. */
export const destinationFields: Readonly<Record<string, DestinationFields>> = {
  'cloudA-sm': {
    of: (address) => ({
      access_key_id: credential(address, 'accessKeyId'),
      secret_access_key: credential(address, 'secretAccessKey'),
      region: 'eu-west-1',
    }),
    maxSecrets: 10_000,
    isUpperCase: false,
  },
  'cloudB-kv': {
    of: (address) => ({
      key_vault_uri: credential(address, 'keyVaultUri'),
      tenant_id: credential(address, 'tenantId'),
      client_id: credential(address, 'clientId'),
      client_secret: credential(address, 'clientSecret'),
    }),
    maxSecrets: 10_000,
    isUpperCase: false,
  },
  'cloudC-sm': {
    of: (address) => ({ credentials: credential(address, 'credentials') }),
    maxSecrets: 500,
    isUpperCase: false,
  },
  codehost: {
    of: (address) => ({
      access_token: credential(address, 'accessToken'),
      secrets_location: 'organization',
      organization_name: 'acme',
    }),
    maxSecrets: 100,
    isUpperCase: true,
  },
  'webhost-project': {
    of: (address) => ({
      access_token: credential(address, 'accessToken'),
      project_id: credential(address, 'projectId'),
      deployment_environments: ['preview', 'production'],
    }),
    maxSecrets: 100,
    isUpperCase: true,
  },
};

/** Creates a mount and a destination of the type of this store. Returns the path of the destination. */
export async function createDestinationOf(
  api: Api,
  { address, mount }: { address: StoreAddress; mount: string },
): Promise<string> {
  const path = `sys/sync/destinations/${address.destinationType}/throughput`;
  await api('POST', `sys/mounts/${mount}`, { type: 'kv', options: { version: '2' } });
  await api('POST', path, destinationFields[address.destinationType]!.of(address));
  return path;
}
