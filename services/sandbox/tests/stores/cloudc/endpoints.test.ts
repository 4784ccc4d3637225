import type { SecretManagerServiceClient } from '@google-cloud/secret-manager';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { errorWith, regionalClient, useCloudC } from './cloudc-harness.ts';

const cloudC = useCloudC();
const location = 'europe-west3';
const regional = `${cloudC.parent}/locations/${location}`;
const payload = { data: Buffer.from('x') };
let inLocation: SecretManagerServiceClient;
let elsewhere: SecretManagerServiceClient;

beforeAll(() => {
  inLocation = regionalClient(cloudC.sandbox(), location);
  elsewhere = regionalClient(cloudC.sandbox(), 'europe-west1');
});
afterAll(async () => {
  await inLocation.close();
  await elsewhere.close();
});

const versionCalls = [
  'getSecretVersion',
  'accessSecretVersion',
  'disableSecretVersion',
  'enableSecretVersion',
  'destroySecretVersion',
] as const;

type Call = (client: SecretManagerServiceClient, parent: string) => Promise<unknown>;

/** Each operation of the API, for the secret `s` of the project or of a location, with its version. */
const operations: [string, Call][] = [
  [
    'createSecret',
    (client, parent) => {
      const secret = parent === regional ? {} : { replication: { automatic: {} } };
      return client.createSecret({ parent, secretId: 'new', secret });
    },
  ],
  ['listSecrets', (client, parent) => client.listSecrets({ parent })],
  ['getSecret', (client, parent) => client.getSecret({ name: `${parent}/secrets/s` })],
  [
    'updateSecret',
    (client, parent) => {
      const secret = { name: `${parent}/secrets/s`, labels: {} };
      return client.updateSecret({ secret, updateMask: { paths: ['labels'] } });
    },
  ],
  ['deleteSecret', (client, parent) => client.deleteSecret({ name: `${parent}/secrets/s` })],
  [
    'addSecretVersion',
    (client, parent) => client.addSecretVersion({ parent: `${parent}/secrets/s`, payload }),
  ],
  ['listSecretVersions', (client, parent) => client.listSecretVersions({ parent: `${parent}/secrets/s` })],
  ...versionCalls.map((method): [string, Call] => [
    method,
    (client, parent) => client[method]({ name: `${parent}/secrets/s/versions/1` }),
  ]),
];

describe.each(operations)('%s', (_, send) => {
  beforeEach(async () => {
    await cloudC.create('s');
    await cloudC.add('s', 'x');
    await inLocation.createSecret({ parent: regional, secretId: 's', secret: {} });
    await inLocation.addSecretVersion({ parent: `${regional}/secrets/s`, payload });
  });

  test.each<[string, () => SecretManagerServiceClient, string]>([
    ['a secret that is not regional at the global endpoint', cloudC.client, cloudC.parent],
    ['a regional secret at the endpoint of its location', () => inLocation, regional],
  ])('succeeds for %s', async (_, client, parent) => {
    await send(client(), parent);
  });

  test.each<[string, () => SecretManagerServiceClient, string]>([
    ['a regional secret at the global endpoint', cloudC.client, regional],
    ['a secret that is not regional at a regional endpoint', () => inLocation, cloudC.parent],
    ['a regional secret at the endpoint of another location', () => elsewhere, regional],
  ])('is refused for %s', async (_, client, parent) => {
    const before = cloudC.held();
    await expect(send(client(), parent)).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    expect(cloudC.held()).toEqual(before);
  });
});

test('a refusal names the resource and the format of the endpoint, as the provider does', async () => {
  const name = `${regional}/secrets/s/versions/latest`;
  await expect(cloudC.client().accessSecretVersion({ name })).rejects.toThrow(
    `The provided Secret ID [${name}] does not match the expected format [projects/*/secrets/*/versions/*]`,
  );
  await expect(inLocation.listSecrets({ parent: cloudC.parent })).rejects.toThrow(
    `[projects/sandbox-project] does not match the expected format [projects/*/locations/europe-west3]`,
  );
});
