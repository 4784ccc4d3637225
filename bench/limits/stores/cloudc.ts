import { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { gaxios, JWT } from 'google-auth-library';
import { credential, type StoreAddress, type StoreClient } from './store-client.ts';

interface ServiceAccount {
  project_id: string;
  client_email: string;
  private_key: string;
  private_key_id: string;
}

/** A put reads the secret and its newest version, adds one, and destroys the one before it. */
export function cloudcClient(address: StoreAddress): StoreClient {
  const account = JSON.parse(credential(address, 'credentials')) as ServiceAccount;
  const authClient = new JWT({
    email: account.client_email,
    key: account.private_key,
    keyId: account.private_key_id,
    scopes: ['https://www.googleapis.com/auth/cloud-platform'],
    transporter: transport(address),
  });
  const client = new SecretManagerServiceClient({
    authClient,
    fallback: true,
    universeDomain: 'googleapis.com',
  });
  const parent = `projects/${account.project_id}`;
  const newest = new Map<string, { name: string; etag: string }>();
  const add = async (id: string, value: string) => {
    const payload = { data: Buffer.from(value) };
    const [added] = await client.addSecretVersion({ parent: `${parent}/secrets/${id}`, payload });
    newest.set(id, { name: added.name!, etag: added.etag! });
  };
  return {
    create: async (secretId, value) => {
      await client.createSecret({ parent, secretId, secret: { replication: { automatic: {} } } });
      await add(secretId, value);
    },
    put: async (id, value) => {
      const name = `${parent}/secrets/${id}`;
      const before = newest.get(id)!;
      await client.getSecret({ name });
      await client.accessSecretVersion({ name: `${name}/versions/latest` });
      await add(id, value);
      await client.destroySecretVersion(before);
    },
  };
}

/** Sends the requests to the sandbox instead of the provider. */
const transport = ({ endpoint }: StoreAddress): gaxios.Gaxios =>
  new gaxios.Gaxios({
    fetchImplementation: (input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input);
      return fetch(`${endpoint}${pathname}${search}`, init);
    },
  });
