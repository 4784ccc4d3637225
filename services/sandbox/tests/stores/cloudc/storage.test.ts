import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { errorWith, regionalClient, useCloudC } from './cloudc-harness.ts';

const dayMs = 86_400_000;
const cloudC = useCloudC();
const keyIn = (location: string, name = 'sandbox') =>
  `projects/keys/locations/${location}/keyRings/sandbox/cryptoKeys/${name}`;
const encrypted = (kmsKeyName: string) => ({ customerManagedEncryption: { kmsKeyName } });
const addVersion = async (id: string) => {
  const payload = { data: Buffer.from('x') };
  return (await cloudC.client().addSecretVersion({ parent: cloudC.nameOf(id), payload }))[0];
};
const read = async (id: string, version: string) => String((await cloudC.access(id, version)).payload?.data);
const update = (id: string, secret: object, ...paths: string[]) =>
  cloudC.client().updateSecret({ secret: { name: cloudC.nameOf(id), ...secret }, updateMask: { paths } });

describe('the keys of a secret', () => {
  test('can be changed, and apply to versions that are added later', async () => {
    await cloudC.create('keyed');
    await addVersion('keyed');
    await update('keyed', { replication: { automatic: encrypted(keyIn('global')) } }, 'replication');
    const added = await addVersion('keyed');
    expect(added.replicationStatus?.automatic?.customerManagedEncryption?.kmsKeyVersionName).toBe(
      `${keyIn('global')}/cryptoKeyVersions/1`,
    );
    cloudC.sandbox().cloudC.disableKey(keyIn('global'));
    expect(await read('keyed', '1')).toBe('x');
    await expect(cloudC.access('keyed', '2')).rejects.toEqual(errorWith('FAILED_PRECONDITION'));
    await expect(addVersion('keyed')).rejects.toEqual(errorWith('FAILED_PRECONDITION'));
    await cloudC.client().deleteSecret({ name: cloudC.nameOf('keyed') });
  });

  test.each([
    [{ userManaged: { replicas: [{ location: 'europe-west1' }] } }, 'INVALID_ARGUMENT'],
    [{ automatic: encrypted(keyIn('europe-west1')) }, 'INVALID_ARGUMENT'],
    [{ automatic: encrypted(keyIn('global', 'missing')) }, 'PERMISSION_DENIED'],
    [{ automatic: encrypted(keyIn('global', 'sandbox-disabled')) }, 'FAILED_PRECONDITION'],
  ] as const)('are not changed to %j', async (replication, code) => {
    await cloudC.create('kept');
    await expect(update('kept', { replication }, 'replication')).rejects.toEqual(errorWith(code));
    expect((await cloudC.get('kept')).replication).toMatchObject({ automatic: {} });
  });
});

const location = 'europe-west3';
const regional = `${cloudC.parent}/locations/${location}`;
let inLocation: ReturnType<typeof regionalClient>;
beforeAll(() => {
  inLocation = regionalClient(cloudC.sandbox(), location);
});
afterAll(() => inLocation.close());

describe('a regional secret', () => {
  const create = (secretId: string, secret: object = {}) =>
    inLocation.createSecret({ parent: regional, secretId, secret });

  test('has a name of its own, and the key of its location', async () => {
    await cloudC.create('same');
    const [secret] = await create('same', encrypted(keyIn(location)));
    expect(secret.name).toMatch(/^projects\/\d{12}\/locations\/europe-west3\/secrets\/same$/);
    expect(secret).toMatchObject({ replication: null, ...encrypted(keyIn(location)) });
    const payload = { data: Buffer.from('regional') };
    await inLocation.addSecretVersion({ parent: String(secret.name), payload });
    await expect(cloudC.access('same')).rejects.toEqual(errorWith('NOT_FOUND'));
    expect(cloudC.held().map(({ region }) => region)).toEqual([
      'sandbox-project',
      'sandbox-project/europe-west3',
    ]);
  });

  test.each([
    ['a replication', { replication: { automatic: {} } }],
    ['a replication in its location', { replication: { userManaged: { replicas: [{ location }] } } }],
    ['a key of the global location', encrypted(keyIn('global'))],
    ['a key of another location', encrypted(keyIn('europe-west1'))],
  ])('is refused with %s', async (_, secret) => {
    await expect(create('refused', secret)).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
  });

  test.each([
    ['a replication', { replication: { automatic: {} } }, 'replication'],
    ['a key of another location', encrypted(keyIn('europe-west1')), 'customer_managed_encryption'],
  ])('is not changed to %s', async (_, sent, path) => {
    const [secret] = await create('kept', encrypted(keyIn(location)));
    const name = String(secret.name);
    const changed = inLocation.updateSecret({ secret: { name, ...sent }, updateMask: { paths: [path] } });
    await expect(changed).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    expect((await inLocation.getSecret({ name }))[0]).toMatchObject(encrypted(keyIn(location)));
  });

  test('is refused in a location that does not exist', async () => {
    const elsewhere = regionalClient(cloudC.sandbox(), 'europe-west99');
    const parent = `${cloudC.parent}/locations/europe-west99`;
    const created = elsewhere.createSecret({ parent, secretId: 'refused', secret: {} });
    await expect(created).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    await elsewhere.close();
  });
});

test('a secret that is not regional is refused with the key field of regional ones', async () => {
  await expect(cloudC.create('refused', encrypted(keyIn('global')))).rejects.toEqual(
    errorWith('INVALID_ARGUMENT'),
  );
});

test('with a delayed destruction, a version is disabled at first, and can be restored until it is destroyed', async () => {
  await cloudC.create('delayed');
  await update('delayed', { versionDestroyTtl: { seconds: 86_400 } }, 'version_destroy_ttl');
  const name = String((await addVersion('delayed')).name);
  const [scheduled] = await cloudC.client().destroySecretVersion({ name });
  expect(scheduled).toMatchObject({ state: 'DISABLED', destroyTime: null });
  expect(Number(scheduled.scheduledDestroyTime?.seconds)).toBeGreaterThan(0);
  await cloudC.client().enableSecretVersion({ name });
  expect(await read('delayed', 'latest')).toBe('x');
  await cloudC.client().destroySecretVersion({ name });
  cloudC.advance(dayMs + 1);
  const [destroyed] = await cloudC.client().getSecretVersion({ name });
  expect(destroyed.state).toBe('DESTROYED');
});

test('an expired secret is gone', async () => {
  await cloudC.create('short');
  await update('short', { expireTime: { seconds: Math.floor((Date.now() + dayMs) / 1000) } }, 'expire_time');
  expect((await cloudC.get('short')).expireTime).toBeDefined();
  cloudC.advance(2 * dayMs);
  await expect(cloudC.get('short')).rejects.toEqual(errorWith('NOT_FOUND'));
  await cloudC.create('short');
});
