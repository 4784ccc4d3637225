import { describe, expect, test } from '@jest/globals';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew } = driver;
const keyIn = (location: string, name = 'sandbox') =>
  `projects/keys/locations/${location}/keyRings/sandbox/cryptoKeys/${name}`;
const replicationOf = async (id: string) => {
  const [{ replication }] = await driver.harness.stranger.getSecret({ name: driver.harness.nameOf(id) });
  return replication;
};

describe('encryption keys', () => {
  test('encrypt a new secret, for an automatic replication and for each location', async () => {
    const automatic = await putNew(await connect({ global_kms_key: keyIn('global') }));
    expect(automatic.remote).toMatchObject({ notice: null });
    expect((await replicationOf(automatic.name))?.automatic).toMatchObject({
      customerManagedEncryption: { kmsKeyName: keyIn('global') },
    });
    const settings = {
      replication_locations: ['europe-west1', 'europe-west3'],
      locational_kms_keys: { 'europe-west1': keyIn('europe-west1'), 'europe-west3': keyIn('europe-west3') },
    };
    const { name } = await putNew(await connect(settings));
    expect((await replicationOf(name))?.userManaged?.replicas).toMatchObject(
      settings.replication_locations.map((location) => ({
        location,
        customerManagedEncryption: { kmsKeyName: keyIn(location) },
      })),
    );
  });

  test('that are set, changed or cleared later leave a notice on existing secrets', async () => {
    const { unchanged } = await putNew();
    const keyed = await put(unchanged, await connect({ global_kms_key: keyIn('global') }));
    expect(keyed.remote).toMatchObject({ notice: expect.stringContaining('keeps the encryption keys') });
    expect((await put({ ...unchanged, remote: keyed.remote })).remote).toMatchObject({ notice: null });
  });

  test.each([
    ['is missing', keyIn('global', 'missing')],
    ['is disabled', keyIn('global', 'sandbox-disabled')],
  ])('one that %s is named as the reason, and tried again', async (_, global_kms_key) => {
    const refused = put(putRequest(driver.harness.freshName(), 'one'), await connect({ global_kms_key }));
    await expect(refused).rejects.toMatchObject({
      kind: 'rejected',
      mayPass: true,
      message: expect.stringMatching(/the encryption key .*; check global_kms_key/),
    });
  });
});

test('a location that does not exist is named as the reason', async () => {
  const nowhere = await connect({ replication_locations: ['europe-west99'] });
  await expect(put(putRequest(driver.harness.freshName(), 'one'), nowhere)).rejects.toMatchObject({
    mayPass: true,
    message: expect.stringContaining('a location does not exist'),
  });
});

test('a change of tags repairs a value that somebody else has written', async () => {
  const { name, unchanged } = await putNew();
  await driver.harness.changeOutside!('value', name);
  await put(unchanged, await connect({ custom_tags: { team: 'a' } }));
  expect(driver.harness.held(name)).toMatchObject({ value: 'one', tags: { team: 'a' } });
});

test('annotations of others survive new values and tags', async () => {
  const { name, next } = await putNew();
  const secret = { name: driver.harness.nameOf(name), annotations: { theirs: 'x' } };
  await driver.harness.stranger.updateSecret({ secret, updateMask: { paths: ['annotations'] } });
  await put(next('two'), await connect({ custom_tags: { team: 'a' } }));
  const [found] = await driver.harness.stranger.getSecret({ name: driver.harness.nameOf(name) });
  expect(found.annotations).toEqual({ theirs: 'x' });
});
