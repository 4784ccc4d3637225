import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { newValue, putRequest } from '@secrets/sync-worker/testing';
import { useDriver } from './use-driver.ts';

const driver = useDriver();
const { connect, put, putNew, remove } = driver;
const fullName = (id: string) => driver.harness.nameOf(id);
const version = (id: string, number: number) => ({ name: `${fullName(id)}/versions/${number}` });
const addPast = (id: string, value: string) =>
  driver.harness.stranger.addSecretVersion({ parent: fullName(id), payload: { data: Buffer.from(value) } });
const relabel = (id: string, labels: Record<string, string>) =>
  driver.harness.stranger.updateSecret({
    secret: { name: fullName(id), labels },
    updateMask: { paths: ['labels'] },
  });
const ownLabels = {
  'managed-by': 'secrets-sync',
  'secrets-destination': '5b0a6c3e-0000-4000-8000-000000000001',
};

describe('cloudC-sm 1: create, then add a version', () => {
  test('a new secret takes two calls', async () => {
    const request = putRequest(driver.harness.freshName(), 'one');
    driver.harness.calls();
    await put(request);
    expect(driver.harness.calls()).toEqual(['CreateSecret', 'AddSecretVersion']);
    expect(driver.harness.held(request.externalName)).toMatchObject({ value: 'one', tags: ownLabels });
  });

  test('a crash between the two calls is resumed', async () => {
    const request = putRequest(driver.harness.freshName(), 'one');
    driver.failWith('AddSecretVersion', 'UNAVAILABLE', 503);
    await expect(put(request)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(driver.harness.held(request.externalName)).toMatchObject({ version_count: 0, tags: ownLabels });
    driver.harness.clear();
    await put(request);
    expect(driver.harness.held(request.externalName)).toMatchObject({ value: 'one', version_count: 1 });
  });

  test('a crash after the second call writes nothing twice', async () => {
    const { name, request } = await putNew();
    await put(request);
    expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: 1 });
  });

  test('neither put nor remove depends on a list', async () => {
    driver.failWith('ListSecrets', 'PERMISSION_DENIED', 403);
    driver.failWith('ListSecretVersions', 'PERMISSION_DENIED', 403);
    const { name, next } = await putNew();
    const { remote } = await put(next('two'));
    await remove(name, remote);
    expect(driver.harness.held(name)).toBeUndefined();
  });
});

describe('cloudC-sm 2: the newest readable version is compared', () => {
  test('a new value adds a version, and the same value adds none', async () => {
    const { name, next, request, remote } = await putNew();
    driver.harness.calls();
    await put(next('two'));
    expect(driver.harness.calls()).toEqual([
      'GetSecret',
      'AccessSecretVersion',
      'AddSecretVersion',
      'DestroySecretVersion',
    ]);
    await addPast(name, 'one');
    await put({ ...request, remote, verify: true });
    expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: 3 });
  });

  test.each(['disableSecretVersion', 'destroySecretVersion'] as const)(
    'after %s, a put with verify adds a version',
    async (change) => {
      const { name, request, remote } = await putNew();
      await driver.harness.stranger[change](version(name, 1));
      await put({ ...request, remote, valueChanged: false, verify: true });
      expect(driver.harness.held(name)).toMatchObject({ value: 'one', version_count: 2 });
    },
  );

  test('a value that may not be read is written', async () => {
    const { name, next } = await putNew();
    driver.failWith('AccessSecretVersion', 'PERMISSION_DENIED', 403);
    await put(next('two'));
    expect(driver.harness.held(name)?.value).toBe('two');
  });

  test('any other failure to read it fails the put', async () => {
    const { name, next } = await putNew();
    driver.failWith('AccessSecretVersion', 'INTERNAL', 500);
    await expect(put(next('two'))).rejects.toMatchObject({ kind: 'unavailable' });
    expect(driver.harness.held(name)?.value).toBe('one');
  });
});

describe('cloudC-sm 3: checksums', () => {
  test('the checksum of a value is sent, so that the provider verifies it', async () => {
    const { name } = await putNew();
    const [added] = await driver.harness.stranger.getSecretVersion(version(name, 1));
    expect(added.clientSpecifiedPayloadChecksum).toBe(true);
  });
});

describe('cloudC-sm 4: our older versions are destroyed', () => {
  test('after a version is added', async () => {
    const { name, next } = await putNew();
    await put(next('two'));
    expect(await driver.harness.states(name)).toEqual(['DESTROYED', 'ENABLED']);
  });

  test('a failure to do so does not fail the put, and the next put tries again', async () => {
    const { name, request, next } = await putNew();
    driver.failWith('DestroySecretVersion', 'RESOURCE_EXHAUSTED', 429);
    const { remote } = await put(next('two'));
    expect(await driver.harness.states(name)).toEqual(['ENABLED', 'ENABLED']);
    driver.harness.clear();
    await put({ ...request, ...newValue(request, 'three'), remote });
    expect(await driver.harness.states(name)).toEqual(['DESTROYED', 'DESTROYED', 'ENABLED']);
  });

  test('versions from before a takeover, and those that somebody else has disabled, are kept', async () => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, 'theirs');
    const request = putRequest(name, 'one', { overwrite: true });
    const { remote } = await put(request);
    await driver.harness.stranger.disableSecretVersion(version(name, 2));
    await put({ ...request, ...newValue(request, 'two'), remote });
    expect(await driver.harness.states(name)).toEqual(['ENABLED', 'DISABLED', 'ENABLED']);
  });
});

describe('cloudC-sm 5: labels', () => {
  test('tags become valid labels', async () => {
    const tagged = await connect({ custom_tags: { 'Cost Centre': 'Größe 42!', long: 'X'.repeat(80) } });
    const { name } = await putNew(tagged);
    expect(driver.harness.held(name)?.tags).toEqual({
      ...ownLabels,
      'cost-centre': 'größe-42-',
      long: 'x'.repeat(63),
    });
  });

  test('foreign labels are kept, and only our own are removed, without a new version', async () => {
    const tagged = await connect({ custom_tags: { team: 'a' } });
    const { name, request, remote } = await putNew(tagged);
    await relabel(name, { ...ownLabels, team: 'a', theirs: 'x' });
    driver.harness.calls();
    await put({ ...request, remote, valueChanged: false });
    expect(driver.harness.calls()).toEqual(['GetSecret', 'UpdateSecret', 'AccessSecretVersion']);
    expect(driver.harness.held(name)).toMatchObject({
      tags: { ...ownLabels, theirs: 'x' },
      version_count: 1,
    });
    expect(driver.harness.held(name)?.tags).not.toHaveProperty('team');
  });

  test('if the etag does not match, the secret is read again once', async () => {
    const tagged = await connect({ custom_tags: { team: 'a' } });
    const { name, request, remote } = await putNew();
    const mismatch = {
      effect: 'error',
      operation: 'UpdateSecret',
      code: 'FAILED_PRECONDITION',
      status: 400,
    } as const;
    driver.harness.calls();
    driver.harness.sandbox.cloudC.faults.add({ ...mismatch, times: 1 });
    await put({ ...request, remote, valueChanged: false }, tagged);
    expect(driver.harness.calls()).toEqual([
      'GetSecret',
      'UpdateSecret',
      'GetSecret',
      'UpdateSecret',
      'AccessSecretVersion',
    ]);
    expect(driver.harness.held(name)?.tags).toMatchObject({ team: 'a' });
    driver.harness.sandbox.cloudC.faults.add(mismatch);
    await expect(
      put({ ...request, remote, valueChanged: false }, await connect({ custom_tags: { team: 'b' } })),
    ).rejects.toMatchObject({ kind: 'not_ready' });
  });
});

describe('cloudC-sm 6: replication', () => {
  const located = { replication_locations: ['us-east4', 'europe-west1'] };

  test('a new secret has the locations of the destination', async () => {
    const { name, remote } = await putNew(await connect(located));
    const [secret] = await driver.harness.stranger.getSecret({ name: fullName(name) });
    expect(secret.replication?.userManaged?.replicas).toMatchObject([
      { location: 'us-east4' },
      { location: 'europe-west1' },
    ]);
    expect(remote).toMatchObject({ notice: null });
  });

  test('an existing one keeps its own, and the entry says so, until they are equal again', async () => {
    const { request, remote, next } = await putNew();
    const elsewhere = await connect(located);
    const notice = expect.stringContaining('replication_locations applies to new secrets');
    driver.harness.calls();
    const unchanged = await put({ ...request, remote, valueChanged: false }, elsewhere);
    expect(unchanged.remote).toMatchObject({ notice });
    expect(driver.harness.calls()).toEqual([]);
    expect((await put(next('two'), elsewhere)).remote).toMatchObject({ notice });
    expect((await put({ ...request, remote: unchanged.remote, valueChanged: false })).remote).toMatchObject({
      notice: null,
    });
  });
});

test('cloudC-sm 8: requests contain the ID of the project, and the number in responses changes nothing', async () => {
  const { next, name } = await putNew();
  await put(next('two'));
  expect(driver.harness.sandbox.cloudC.calls().map(({ region }) => region)).not.toContain(undefined);
  const [secret] = await driver.harness.stranger.getSecret({ name: fullName(name) });
  expect(secret.name).toMatch(/^projects\/\d+\//);
  expect(new Set(driver.harness.sandbox.cloudC.calls().map(({ region }) => region))).toEqual(
    new Set(['sandbox-project']),
  );
});

describe('common: unknown is not absent', () => {
  test('nothing is deleted if the secret cannot be read', async () => {
    const { name, remote } = await putNew();
    driver.failWith('GetSecret', 'PERMISSION_DENIED', 403);
    await expect(remove(name, remote)).rejects.toMatchObject({ kind: 'forbidden' });
    expect(driver.harness.held(name)?.value).toBe('one');
  });

  test('nothing is deleted if it changed after it was read', async () => {
    const { name, remote } = await putNew();
    driver.failWith('DeleteSecret', 'FAILED_PRECONDITION', 400);
    await expect(remove(name, remote)).rejects.toMatchObject({ kind: 'not_ready' });
  });
});

describe('common: what is not ours is never touched', () => {
  test('a secret that replaced the known one is foreign', async () => {
    const { name, next, remote } = await putNew();
    await driver.harness.stranger.deleteSecret({ name: fullName(name) });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await driver.harness.plantForeign(name, 'theirs');
    await expect(put(next('two'))).rejects.toMatchObject({ kind: 'conflict' });
    await remove(name, remote);
    expect(driver.harness.held(name)?.value).toBe('theirs');
  });

  test('a known secret that lost its labels is still ours, and gets them again', async () => {
    const { name, request, remote } = await putNew();
    await relabel(name, {});
    await put({ ...request, remote, valueChanged: false, verify: true });
    expect(driver.harness.held(name)?.tags).toEqual(ownLabels);
  });

  test.each(['CreateSecret', 'AddSecretVersion'])(
    'a secret whose %s has lost its outcome is ours, although custom_tags have changed since',
    async (operation) => {
      const request = putRequest(driver.harness.freshName(), 'one');
      driver.harness.sandbox.cloudC.faults.add({ effect: 'act-then-die', operation, times: 1 });
      const first = await connect({ custom_tags: { team: 'a' } });
      await expect(put(request, first)).rejects.toMatchObject({ kind: 'unavailable' });
      await put(request, await connect({ custom_tags: { team: 'b' } }));
      expect(driver.harness.held(request.externalName)).toMatchObject({
        value: 'one',
        version_count: 1,
        tags: { ...ownLabels, team: 'b' },
      });
      await remove(request.externalName, null, await connect());
      expect(driver.harness.held(request.externalName)).toBeUndefined();
    },
  );

  test('a takeover keeps foreign labels', async () => {
    const name = driver.harness.freshName();
    await driver.harness.plantForeign(name, 'theirs');
    await put(putRequest(name, 'ours', { overwrite: true }));
    expect(driver.harness.held(name)).toMatchObject({ value: 'ours', tags: { ...ownLabels, theirs: 'x' } });
  });

  test('a secret of another destination is not taken over', async () => {
    const other = driver.keep(await driver.harness.connect({ id: randomUUID() }));
    const { name } = await putNew(other);
    await expect(put(putRequest(name, 'ours', { overwrite: true }))).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringContaining('belongs to another destination'),
    });
  });
});
