import { describe, expect, test } from '@jest/globals';
import { codes, errorWith, useCloudC } from './cloudc-harness.ts';

const cloudC = useCloudC({ projects: ['other-project'], disabledProjects: ['no-api-project'] });

describe('creation', () => {
  test('a secret is created without a version; responses contain the number of the project', async () => {
    const secret = await cloudC.create('app-db', { labels: { team: 'a' } });
    expect(secret.name).toMatch(/^projects\/\d{12}\/secrets\/app-db$/);
    expect(await cloudC.get('app-db')).toMatchObject({ labels: { team: 'a' }, etag: secret.etag });
    const [byNumber] = await cloudC.client().getSecret({ name: String(secret.name) });
    expect(byNumber.name).toBe(secret.name);
    expect(cloudC.held()).toMatchObject([{ name: 'app-db', region: 'sandbox-project', version_count: 0 }]);
    await expect(cloudC.access('app-db')).rejects.toEqual(errorWith('NOT_FOUND'));
  });

  test('a name can be created only once in a project, and is case-sensitive', async () => {
    await cloudC.create('twice');
    await expect(cloudC.create('twice')).rejects.toEqual(errorWith('ALREADY_EXISTS'));
    await cloudC.create('Twice');
    await cloudC.client().createSecret({
      parent: 'projects/other-project',
      secretId: 'twice',
      secret: { replication: { automatic: {} } },
    });
    expect(cloudC.held()).toHaveLength(3);
  });

  test.each(['a/b', 'a.b', 'ä', 'x'.repeat(256), ' '])('the name %j is rejected', async (id) => {
    await expect(cloudC.create(id)).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
  });

  test('a replication is required, automatic or with distinct locations', async () => {
    await expect(cloudC.create('a', { replication: undefined })).rejects.toEqual(
      errorWith('INVALID_ARGUMENT'),
    );
    const inLocations = (...locations: string[]) => ({
      replication: { userManaged: { replicas: locations.map((location) => ({ location })) } },
    });
    await expect(cloudC.create('a', inLocations())).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    const twice = inLocations('europe-west1', 'europe-west1');
    await expect(cloudC.create('a', twice)).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    await cloudC.create('a', inLocations('europe-west1', 'us-east4'));
    const { replication } = await cloudC.get('a');
    expect(replication?.userManaged?.replicas).toMatchObject([
      { location: 'europe-west1' },
      { location: 'us-east4' },
    ]);
  });

  test('an unknown project is not found, and one without the API is refused with the reason', async () => {
    const createIn = (parent: string) =>
      cloudC.client().createSecret({ parent, secretId: 'a', secret: { replication: { automatic: {} } } });
    await expect(createIn('projects/none')).rejects.toEqual(errorWith('NOT_FOUND'));
    await expect(createIn('projects/no-api-project')).rejects.toMatchObject({
      code: codes.PERMISSION_DENIED,
      reason: 'SERVICE_DISABLED',
    });
  });
});

describe('labels', () => {
  test.each([
    ['65 labels', Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, '']))],
    ['a key in upper case', { Team: 'a' }],
    ['a key that begins with a digit', { '1a': 'a' }],
    ['a key of 64 characters', { ['k'.repeat(64)]: '' }],
    ['a value in upper case', { team: 'A' }],
    ['a value with a space', { team: 'a b' }],
    ['a value of 64 characters', { team: 'v'.repeat(64) }],
    ['a value of more than 128 bytes', { team: '東'.repeat(50) }],
  ])('%s: rejected on creation and on update', async (_, labels) => {
    await expect(cloudC.create('l', { labels })).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    await cloudC.create('l');
    const update = { secret: { name: cloudC.nameOf('l'), labels }, updateMask: { paths: ['labels'] } };
    await expect(cloudC.client().updateSecret(update)).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
  });

  test('an update replaces all labels, and needs a mask', async () => {
    await cloudC.create('l', { labels: { a: '1', b: '2' } });
    const secret = { name: cloudC.nameOf('l'), labels: { c: '3' } };
    await expect(cloudC.client().updateSecret({ secret })).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
    await cloudC.client().updateSecret({ secret, updateMask: { paths: ['labels'] } });
    expect((await cloudC.get('l')).labels).toEqual({ c: '3' });
  });

  test('an update with an old etag is refused, and each update changes the etag', async () => {
    const { etag } = await cloudC.create('l');
    const update = (sent: string) =>
      cloudC.client().updateSecret({
        secret: { name: cloudC.nameOf('l'), labels: { a: '1' }, etag: sent },
        updateMask: { paths: ['labels'] },
      });
    const [updated] = await update(String(etag));
    expect(updated.etag).not.toBe(etag);
    await expect(update(String(etag))).rejects.toEqual(errorWith('FAILED_PRECONDITION'));
    await update('');
  });

  test('the time of creation cannot be updated', async () => {
    await cloudC.create('l');
    const secret = { name: cloudC.nameOf('l'), createTime: { seconds: 1 } };
    const update = cloudC.client().updateSecret({ secret, updateMask: { paths: ['create_time'] } });
    await expect(update).rejects.toEqual(errorWith('INVALID_ARGUMENT'));
  });
});

describe('deletion', () => {
  test('removes the secret at once, and its name is free', async () => {
    await cloudC.create('gone');
    await cloudC.add('gone', 'one');
    await cloudC.client().deleteSecret({ name: cloudC.nameOf('gone') });
    await expect(cloudC.get('gone')).rejects.toEqual(errorWith('NOT_FOUND'));
    await expect(cloudC.client().deleteSecret({ name: cloudC.nameOf('gone') })).rejects.toEqual(
      errorWith('NOT_FOUND'),
    );
    await cloudC.create('gone');
    expect((await cloudC.add('gone', 'two')).name).toMatch(/versions\/1$/);
  });

  test('with an old etag is refused', async () => {
    await cloudC.create('kept');
    const deletion = cloudC.client().deleteSecret({ name: cloudC.nameOf('kept'), etag: '"old"' });
    await expect(deletion).rejects.toEqual(errorWith('FAILED_PRECONDITION'));
  });
});

describe('lists', () => {
  test('are paged in order of creation', async () => {
    for (const id of ['b', 'a', 'c']) await cloudC.create(id);
    const [first, , page] = await cloudC
      .client()
      .listSecrets({ parent: cloudC.parent, pageSize: 2 }, { autoPaginate: false });
    expect(first.map(({ name }) => name?.split('/').at(-1))).toEqual(['b', 'a']);
    expect(page).toMatchObject({ totalSize: 3 });
    const [all] = await cloudC.client().listSecrets({ parent: cloudC.parent, pageSize: 1 });
    expect(all).toHaveLength(3);
  });

  test('a stale list lacks what is new and contains what was deleted', async () => {
    await cloudC.create('old');
    cloudC.advance(10_000);
    await cloudC.create('new');
    await cloudC.client().deleteSecret({ name: cloudC.nameOf('old') });
    cloudC.sandbox().cloudC.faults.add({ effect: 'stale-list', ms: 5_000 });
    const [listed] = await cloudC.client().listSecrets({ parent: cloudC.parent });
    expect(listed.map(({ name }) => name?.split('/').at(-1))).toEqual(['old']);
  });
});
