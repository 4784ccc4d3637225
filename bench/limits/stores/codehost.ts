import { Octokit } from '@octokit/rest';
import sodium from 'libsodium-wrappers';
import { credential, type StoreAddress, type StoreClient } from './store-client.ts';

/** Where the sandbox lets a destination store a thousand secrets. */
const organization = 'acme';

/** The client writes each response with an error status to the console. */
const silent = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * A put requires that the name still denotes the organization, which costs nothing of the hourly limit, and that the secret is
 * still the same one. It writes a value that is encrypted for the organization, and reads who sees it: the response is empty.
 */
export async function codehostClient(address: StoreAddress): Promise<StoreClient> {
  const auth = credential(address, 'accessToken');
  const octokit = new Octokit({ baseUrl: address.endpoint, auth, request: { log: silent }, log: silent });
  const { data: key } = await octokit.rest.actions.getOrgPublicKey({ org: organization });
  await sodium.ready;
  const write = async (secret_name: string, value: string) => {
    const sealed = sodium.crypto_box_seal(Buffer.from(value, 'utf8'), Buffer.from(key.key, 'base64'));
    await octokit.rest.actions.createOrUpdateOrgSecret({
      org: organization,
      secret_name,
      encrypted_value: Buffer.from(sealed).toString('base64'),
      key_id: key.key_id,
      visibility: 'private',
    });
  };
  const look = (secret_name: string) => octokit.rest.actions.getOrgSecret({ org: organization, secret_name });
  const { headers } = await octokit.rest.orgs.get({ org: organization });
  const requireOrganization = () =>
    octokit
      .request('GET /orgs/{org}', { org: organization, headers: { 'if-none-match': headers.etag } })
      .catch((error: { status?: number }) => {
        if (error.status !== 304) throw error;
      });
  return {
    create: write,
    put: async (name, value) => {
      await Promise.all([requireOrganization(), look(name)]);
      await write(name, value);
      await look(name);
    },
  };
}
