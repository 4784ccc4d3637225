import { Octokit } from '@octokit/rest';
import sodium from 'libsodium-wrappers';
import { credential, type StoreAddress, type StoreClient } from './store-client.ts';

/** Where the sandbox lets a destination store a thousand secrets. */
const organization = 'acme';

/** A put is one call, with a value that is encrypted for the organization. */
export async function codehostClient(address: StoreAddress): Promise<StoreClient> {
  const octokit = new Octokit({ baseUrl: address.endpoint, auth: credential(address, 'accessToken') });
  const { data: key } = await octokit.rest.actions.getOrgPublicKey({ org: organization });
  await sodium.ready;
  const put = async (name: string, value: string) => {
    const sealed = sodium.crypto_box_seal(Buffer.from(value, 'utf8'), Buffer.from(key.key, 'base64'));
    await octokit.rest.actions.createOrUpdateOrgSecret({
      org: organization,
      secret_name: name,
      encrypted_value: Buffer.from(sealed).toString('base64'),
      key_id: key.key_id,
      visibility: 'private',
    });
  };
  return { create: put, put };
}
