import { describe, expect, test } from '@jest/globals';
import type { Json } from '@secrets/domain';
import { putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const keyIn = (location: string, name = 'sandbox') =>
  `projects/keys/locations/${location}/keyRings/sandbox/cryptoKeys/${name}`;
const replicationOf = async (id: string) => {
  const [{ replication }] = await driver.harness.stranger.getSecret({ name: driver.harness.nameOf(id) });
  return replication;
};

const automaticKeyOf = async (id: string) =>
  (await replicationOf(id))?.automatic?.customerManagedEncryption?.kmsKeyName ?? '';
const versionKeyOf = async (id: string, number: number) => {
  const name = `${driver.harness.nameOf(id)}/versions/${number}`;
  const [{ replicationStatus }] = await driver.harness.stranger.getSecretVersion({ name });
  const key = replicationStatus?.automatic?.customerManagedEncryption?.kmsKeyVersionName ?? '';
  return key.replace(/\/cryptoKeyVersions\/.*/, '');
};
/** Changes the key as somebody else. */
const changeKey = (id: string, kmsKeyName: string) =>
  driver.harness.stranger.updateSecret({
    secret: {
      name: driver.harness.nameOf(id),
      replication: { automatic: { customerManagedEncryption: { kmsKeyName } } },
    },
    updateMask: { paths: ['replication'] },
  });

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

  test('reach an existing secret when they are set, changed and cleared, with a new version each time', async () => {
    const { name, unchanged, remote } = await putNew();
    let state = remote;
    for (const [number, global_kms_key] of [
      [2, keyIn('global')],
      [3, keyIn('global', 'sandbox-other')],
      [4, ''],
      [5, keyIn('global')],
    ] as const) {
      const settled = await connect({ global_kms_key });
      const done = await put({ ...unchanged, remote: state }, settled);
      state = done.remote;
      expect(done.remote).toMatchObject({ notice: null });
      expect(await automaticKeyOf(name)).toBe(global_kms_key);
      expect(await versionKeyOf(name, number)).toBe(global_kms_key);
      expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: number });
      expect((await driver.harness.states(name)).slice(0, -1)).toEqual(Array(number - 1).fill('DESTROYED'));
      driver.harness.calls();
      await put({ ...unchanged, remote: state }, settled);
      expect(driver.harness.calls()).toEqual([]);
      await put({ ...unchanged, remote: state, verify: true }, settled);
      expect(driver.harness.calls()).toEqual(['GetSecret', 'AccessSecretVersion']);
    }
  });

  test('of replicas are changed, too', async () => {
    const located = (name?: string) =>
      connect({
        replication_locations: ['europe-west1'],
        locational_kms_keys: name === undefined ? {} : { 'europe-west1': keyIn('europe-west1', name) },
      });
    const { name, unchanged } = await putNew(await located());
    const { remote } = await put(unchanged, await located('sandbox-other'));
    expect((await replicationOf(name))?.userManaged?.replicas).toMatchObject([
      { customerManagedEncryption: { kmsKeyName: keyIn('europe-west1', 'sandbox-other') } },
    ]);
    await put({ ...unchanged, remote }, await located());
    expect((await replicationOf(name))?.userManaged?.replicas).toMatchObject([
      { customerManagedEncryption: null },
    ]);
  });

  test('that somebody else has set are kept while none are set, and replaced by those that are', async () => {
    const { name, verification } = await putNew();
    await changeKey(name, keyIn('global', 'sandbox-other'));
    const { remote } = await put(verification);
    expect(await automaticKeyOf(name)).toBe(keyIn('global', 'sandbox-other'));
    await put({ ...verification, remote }, await connect({ global_kms_key: keyIn('global') }));
    expect(await automaticKeyOf(name)).toBe(keyIn('global'));
    expect(await versionKeyOf(name, 2)).toBe(keyIn('global'));
  });

  test('are restored by a comparison', async () => {
    const keyed = await connect({ global_kms_key: keyIn('global') });
    const { name, verification } = await putNew(keyed);
    await changeKey(name, keyIn('global', 'sandbox-other'));
    await put(verification, keyed);
    expect(await automaticKeyOf(name)).toBe(keyIn('global'));
  });

  test('encrypt the newest version although an attempt ended between the change and the version', async () => {
    const { name, unchanged, remote } = await putNew();
    const keyed = await connect({ global_kms_key: keyIn('global') });
    let recorded = remote;
    const recordRemote = async (given: Json) => {
      recorded = given;
    };
    driver.failWith('AddSecretVersion', 'UNAVAILABLE', 503);
    await expect(put({ ...unchanged, recordRemote }, keyed)).rejects.toMatchObject({ kind: 'unavailable' });
    driver.harness.clear();
    expect(await automaticKeyOf(name)).toBe(keyIn('global'));
    await put({ ...unchanged, remote: recorded }, keyed);
    expect(await versionKeyOf(name, 2)).toBe(keyIn('global'));
    expect(await driver.harness.states(name)).toEqual(['DESTROYED', 'ENABLED']);
  });

  test('that cannot be used any more are replaced, and do not hold up a removal', async () => {
    const lost = keyIn('europe-west4');
    const located = (key: string) =>
      connect({ replication_locations: ['europe-west4'], locational_kms_keys: { 'europe-west4': key } });
    const { name, unchanged } = await putNew(await located(lost));
    const removed = await putNew(await located(lost));
    driver.harness.sandbox.cloudC.disableKey(lost);
    await put(unchanged, await located(keyIn('europe-west4', 'sandbox-other')));
    expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: 2 });
    await remove(removed.name, removed.remote, await located(lost));
    expect(driver.harness.held(removed.name)).toBeUndefined();
    await remove(name, null, await located(keyIn('europe-west4', 'missing')));
    expect(driver.harness.held(name)).toBeUndefined();
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
