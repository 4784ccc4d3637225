import { describe, expect, test } from '@jest/globals';
import { cloudBClient, errorWith, useCloudB } from './cloudb-harness.ts';

const cloudB = useCloudB();

test('each set creates a version, and the newest is read', async () => {
  const client = cloudB.client();
  const first = await client.setSecret('db', 'one', { tags: { team: 'a' }, contentType: 'text/plain' });
  const second = await client.setSecret('db', 'two');
  expect(first.properties.version).not.toBe(second.properties.version);
  expect(await client.getSecret('db')).toMatchObject({ value: 'two', properties: { tags: {} } });
  const earlier = await client.getSecret('db', { version: first.properties.version! });
  expect(earlier).toMatchObject({
    value: 'one',
    properties: { tags: { team: 'a' }, contentType: 'text/plain' },
  });
  expect(cloudB.sandbox().cloudB.secrets()).toMatchObject([{ name: 'db', value: 'two', version_count: 2 }]);
});

test('an update changes properties without a version, and replaces the tags as a whole', async () => {
  const client = cloudB.client();
  const { properties } = await client.setSecret('db', 'one', { tags: { a: '1', b: '2' } });
  await client.updateSecretProperties('db', properties.version!, { tags: { b: '3' } });
  await client.updateSecretProperties('db', properties.version!, { contentType: 'text/plain' });
  expect(await client.getSecret('db')).toMatchObject({
    value: 'one',
    properties: { version: properties.version, tags: { b: '3' }, contentType: 'text/plain' },
  });
});

test('names that differ only in case are the same secret', async () => {
  await cloudB.client().setSecret('A-b', 'one');
  await cloudB.client().setSecret('a-B', 'two');
  expect((await cloudB.client().getSecret('a-b')).value).toBe('two');
  expect(cloudB.sandbox().cloudB.secrets()).toHaveLength(1);
});

test('vaults are independent of each other', async () => {
  await cloudB.client().setSecret('db', 'one');
  const other = cloudBClient(cloudB.sandbox(), { vault: 'https://other.vault.azure.net' });
  await expect(other.getSecret('db')).rejects.toEqual(errorWith(404, 'SecretNotFound'));
  await other.setSecret('db', 'two');
  expect((await cloudB.client().getSecret('db')).value).toBe('one');
});

test('the value of a disabled secret cannot be read', async () => {
  const client = cloudB.client();
  const { properties } = await client.setSecret('db', 'one');
  await client.updateSecretProperties('db', properties.version!, { enabled: false });
  await expect(client.getSecret('db')).rejects.toEqual(errorWith(403, 'Forbidden', 'SecretDisabled'));
});

test('the secret of a certificate can be read, and not changed', async () => {
  cloudB.sandbox().cloudB.importCertificate('cert', 'PEM');
  const client = cloudB.client();
  const { properties } = await client.getSecret('cert');
  expect(properties).toMatchObject({ managed: true, contentType: 'application/x-pem-file' });
  const refused = errorWith(403, 'Forbidden');
  await expect(client.setSecret('cert', 'x')).rejects.toEqual(refused);
  await expect(client.updateSecretProperties('cert', '', { tags: {} })).rejects.toEqual(refused);
  await expect(client.beginDeleteSecret('cert')).rejects.toEqual(refused);
});

describe('lists', () => {
  test('are paged and contain no values', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `s${index}`);
    for (const name of names) await cloudB.client().setSecret(name, 'canary');
    const listed = [];
    for await (const item of cloudB.client().listPropertiesOfSecrets()) listed.push(item);
    expect(listed.map(({ name }) => name)).toEqual(names);
    expect(JSON.stringify(listed)).not.toContain('canary');
  });

  test('of versions contain all of a secret', async () => {
    await cloudB.client().setSecret('db', 'one');
    await cloudB.client().setSecret('db', 'two');
    const versions = [];
    for await (const { version } of cloudB.client().listPropertiesOfSecretVersions('db'))
      versions.push(version);
    expect(new Set(versions).size).toBe(2);
  });
});
